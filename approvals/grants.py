"""Grants: approved actions, checked again when the effect begins, consumed by one intent. Every verb joins
the caller's transaction.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_noop as _

from accounts.arrows import move
from accounts.canonical import BadInput, canonical
from accounts.models import Tenant
from approvals import announce, rules, shown
from approvals.clock import db_now
from approvals.models import PendingAction
from tools import intents
from tools.models import Contract, Intent
from tools.reasons import Reason

Status = PendingAction.Status

DIFFERENCES = {
    "arguments": _("The parameters are not the ones that were approved."),
    "target": _("The target is not the one that was approved."),
    "credentials": _("The credentials of the tool were set anew since it was approved."),
    "tool_id": _("The tool is not the one that was approved."),
    "expires_at": _("The end of the approval is not the one that was shown."),
    "tenant": _("It belongs to another organisation than the one it was approved for."),
    "run": _("It belongs to another task than the one it was approved for."),
    "step": _("It belongs to another step than the one it was approved for."),
    "intent": _("The approval belongs to another effect."),
    "intent_key": _("The key of the effect is not the one that was approved."),
    "definition_digest": _("The tool is not declared as it was when it was approved."),
    "contract_version": _("The version of the tool is not the one that was approved."),
    "tool": _("The tool is not the one that was approved."),
    "sender": _("The sender address of the organisation has changed since it was approved."),
    "rules_digest": _("The rules for approving this tool have changed since it was approved."),
    "epoch": _("The task was taken over or restored since it was approved."),
}
OTHER_DIFFERENCE = _("What would happen now is not what was approved.")


@dataclass(frozen=True, slots=True)
class Drift:
    """Why a grant does not cover the effect any more. Codes name what differs."""

    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return " ".join(str(reason) for reason in self.reasons)


def check(
    *,
    action_id: uuid.UUID,
    intent: Intent,
    contract: Contract,
    epoch: int,
    needed: int = 1,
    now: datetime | None = None,
) -> Drift | None:
    """Whether the grant still covers exactly this effect; ``None`` means go.

    Locks the action. Recomputes what the approval was bound to from the intent, the contract, the tenant's
    sender and the newest rules, and compares it with the bytes that were shown; then time, use, and the
    rights of everybody who approved, read now (fault B52, checklist 14 to 16). ``needed``: how many people the
    gate wants now, which a total may have raised meanwhile (B62). Joins the caller's transaction.
    """
    action = PendingAction.everywhere.select_for_update(of=("self",)).filter(pk=action_id).first()
    if action is None or action.tenant_id != intent.tenant_id or action.kind != PendingAction.Kind.APPROVE:
        return Drift((Reason("no_grant", _("There is no approval for this.")),))
    reasons = _state(action, intent, now)
    if not reasons:
        reasons = _differences(action, intent, contract, epoch) + _signers(action, needed)
    return Drift(tuple(reasons)) if reasons else None


def _state(action: PendingAction, intent: Intent, now: datetime | None) -> list[Reason]:
    if action.status not in (Status.APPROVED, Status.CONSUMED):
        return [Reason("not_approved", _("The approval does not stand."), {"status": action.status})]
    if action.intent_id != intent.pk or intent.grant != action.pk:
        return [Reason("other_intent", _("The approval belongs to another effect."))]
    if action.expires_at is None or (now or db_now()) >= action.expires_at:
        return [Reason("expired", _("The approval has expired."))]
    return []


def _differences(action: PendingAction, intent: Intent, contract: Contract, epoch: int) -> list[Reason]:
    if shown.digest_of(action.shown) != action.digest:
        return [Reason("shown", OTHER_DIFFERENCE)]
    tenant = Tenant.objects.get(pk=intent.tenant_id)
    try:
        approved = shown.read(action.shown)
        current = shown.bound_facts(intent=intent, contract=contract, tenant=tenant, epoch=epoch)
        changed = [name for name in shown.BOUND if not _same(approved.get(name), current[name])]
        if approved.get("expires_at") != (action.expires_at.isoformat() if action.expires_at else None):
            changed.append("expires_at")
        if not current["rules_digest"] and "rules_digest" not in changed:
            changed.append("rules_digest")
    except BadInput:
        return [Reason("unreadable", OTHER_DIFFERENCE)]
    return [difference(name) for name in changed]


def difference(name: str) -> Reason:
    """What is not as it was approved, in words."""
    return Reason(name, DIFFERENCES.get(name, OTHER_DIFFERENCE))


def _same(approved: Any, current: Any) -> bool:
    return canonical(approved) == canonical(current)


def _signers(action: PendingAction, needed: int) -> list[Reason]:
    seen = [one for one in rules.signatures(action) if one.digest_seen == action.digest]
    entitled = len(rules.entitled_signers(action, seen))
    if entitled >= max(rules.quorum(action), needed):
        return []
    if entitled >= rules.quorum(action):
        text = _("%(signed)s agreed, and by the rules %(needed)s must agree now.")
        return [Reason("quorum", text, {"signed": entitled, "needed": needed})]
    return [Reason("approver", _("Somebody who approved may not approve any more."))]


def consume(*, action_id: uuid.UUID) -> None:
    """Use the grant. Doing so again is allowed: the same intent may be dispatched again under it while
    nothing drifted.

    Joins the caller's transaction; call it after :func:`check`, which holds the lock. Raises
    RefusedTransition.
    """
    action = PendingAction.everywhere.get(pk=action_id)
    if action.status != Status.CONSUMED:
        move(action, "consume")


def void(*, action_id: uuid.UUID, reason: str, actor_kind: str = "engine") -> PendingAction:
    """Take an unused grant back: the action becomes VOIDED and its intent waits for a new one. Joins the
    caller's transaction. Raises RefusedTransition when begin was faster.
    """
    action: PendingAction = PendingAction.everywhere.select_for_update(of=("self",)).get(pk=action_id)
    move(action, "void", changes={"void_reason": reason[:300]})
    intent = Intent.everywhere.select_for_update(of=("self",)).filter(grant=action.pk).first()
    if intent is not None and intent.status == Intent.Status.AUTHORISED:
        intents.revoke(intent_id=intent.pk, evidence={"what": "grant_voided", "reason": reason[:300]})
    announce.closed(action, "voided", {"reason": reason[:300]}, actor_kind=actor_kind)
    return action


def void_unused(*, run_id: uuid.UUID, reason: str) -> list[PendingAction]:
    """Every unused grant of a run, voided: what a run that ends owes (I11, fault B57). Joins the caller's
    transaction.
    """
    unused = PendingAction.everywhere.filter(run_id=run_id, status=Status.APPROVED).order_by("pk")
    return [void(action_id=pk, reason=reason) for pk in unused.values_list("pk", flat=True)]
