"""Audit entry and messages of the desk. Joins the caller's transaction; the audit head is the last row
locked, so callers announce last.
"""

from collections.abc import Mapping
from typing import Any

from accounts import audit, ids
from accounts.canonical import BadInput
from accounts.models import User
from approvals.models import PendingAction
from approvals.shown import read
from outbox import bell
from outbox.append import append


def opened(action: PendingAction) -> None:
    """A new question stands: ``action.opened`` and the audit entry. Joins the caller's transaction."""
    _message("action.opened", action)
    _audit(action, "opened", {"generation": action.generation, "sentence": action.sentence})


def closed(
    action: PendingAction,
    act: str,
    payload: Mapping[str, Any],
    *,
    actor: User | None = None,
    actor_kind: str = "person",
    channel: str = "system",
    decided: bool = False,
) -> None:
    """The question (or its grant) changed its state. ``decided`` also rings the engine. Joins the caller's
    transaction.
    """
    if decided:
        _message("decision.recorded", action)
        bell.ring(bell.DECIDED)
    _message("action.closed", action, {"by": actor.pk} if actor is not None else None)
    _audit(action, act, payload, actor=actor, actor_kind=actor_kind, channel=channel)


def signed(action: PendingAction, payload: Mapping[str, Any], *, actor: User, channel: str) -> None:
    """One of several people agreed; alone it does nothing, and the others hear that they are next. Joins the caller's
    transaction."""
    _message("action.signed", action)
    _audit(action, "signed", payload, actor=actor, channel=channel)


def reminded(action: PendingAction) -> None:
    """Those who may decide hear of it again. No act of anybody: no audit entry. Joins the caller's transaction."""
    _message("action.reminder", action, {"reminder": action.reminders})


def escalated(action: PendingAction, payload: Mapping[str, Any]) -> None:
    """Its time to be escalated has come; ``to`` are the ids of those who hear of it. Joins the caller's transaction."""
    _message("action.escalated", action, payload)
    _audit(action, "escalated", payload, actor_kind="policy:escalation")


def undecidable(action: PendingAction, payload: Mapping[str, Any]) -> None:
    """Nobody can decide it any more; ``to`` are the ids of those to whom it goes. Joins the caller's transaction."""
    _message("action.undecidable", action, payload)
    _audit(action, "undecidable", payload, actor_kind="policy:escalation")


def decidable(action: PendingAction) -> None:
    """Enough people can decide it again. Joins the caller's transaction."""
    _message("action.decidable", action)
    _audit(action, "decidable", {}, actor_kind="policy:escalation")


def handled(
    action: PendingAction, act: str, payload: Mapping[str, Any], *, actor: User, channel: str
) -> None:
    """Somebody claimed, released, set aside or took back a question: who decides it may have changed, the question has
    not. Joins the caller's transaction."""
    _message("action.handled", action, {"act": act})
    _audit(action, act, payload, actor=actor, channel=channel)


def delegated(
    action: PendingAction, payload: Mapping[str, Any], *, to: User, actor: User, channel: str
) -> None:
    """The question was handed to one person. Joins the caller's transaction."""
    _message("action.delegated", action, {"user_id": to.pk, "by": actor.pk})
    _audit(action, "delegated", {**payload, "to": to.pk.hex}, actor=actor, channel=channel)


def _message(topic: str, action: PendingAction, more: Mapping[str, Any] | None = None) -> None:
    append(
        topic=topic,
        key=f"action:{action.pk.hex}",
        tenant_id=action.tenant_id,
        payload={
            "action_id": action.pk,
            "run_id": action.run_id,
            "step_id": action.step_id,
            "kind": action.kind,
            "status": action.status,
            **(more or {}),
        },
    )


def _audit(
    action: PendingAction,
    act: str,
    payload: Mapping[str, Any],
    *,
    actor: User | None = None,
    actor_kind: str = "person",
    channel: str = "system",
) -> None:
    audit.append(
        tenant_id=action.tenant_id,
        act=f"action.{act}",
        subject=("action", ids.public("pendingaction", action.pk)),
        payload={"kind": action.kind, "tool": _tool(action), "digest": action.digest, **payload},
        actor=actor,
        actor_kind=actor_kind if actor is None else "person",
        channel=channel,
        run_id=action.run_id,
    )


def _tool(action: PendingAction) -> str:
    """By which the audit chain is searched; empty for a question that is about none."""
    try:
        return str(read(action.shown).get("tool") or "")
    except BadInput:
        return ""
