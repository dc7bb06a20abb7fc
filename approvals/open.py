"""Put a question to the people of a tenant. Every verb here joins the caller's transaction."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from accounts.canonical import BadInput
from accounts.ids import new_id
from accounts.models import Role, Tenant, User
from approvals import announce, chase, rules, shown
from approvals.clock import db_now
from approvals.models import PendingAction, Verdict
from tools.models import Contract, EffectClass, Intent

APPROVE_VERDICTS = (Verdict.APPROVE.value, Verdict.ASK_CHANGES.value, Verdict.REJECT.value)
SETTLE_VERDICTS = (Verdict.HAPPENED.value, Verdict.NOT_HAPPENED.value, Verdict.NOBODY_KNOWS.value)
TAKE_OVER_VERDICTS = (Verdict.CONTINUE.value, Verdict.FAIL.value)
ANSWER_VERDICTS = (Verdict.ANSWER.value,)
DEFAULT_TTL_SECONDS = 259_200
#: Nobody looks up one outcome with more people than this.
MOST_SETTLE = 2


def open_approval(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID,
    epoch: int,
    intent: Intent,
    contract: Contract,
    submitter_id: uuid.UUID,
    agent: str,
    sentence: str,
    target: str,
    risk: str,
    irreversible: bool,
    preview: Mapping[str, Any],
    rationale: str,
    evidence: Sequence[Any],
    policy: Mapping[str, Any],
    second_gesture: str = "",
    predecessor: PendingAction | None = None,
    edited: Mapping[str, str] | None = None,
    sent_back: Mapping[str, str] | None = None,
) -> PendingAction:
    """Ask whether ``intent`` may happen. Joins the caller's transaction.

    ``epoch`` is the epoch the grant is bound to: begin hands the same number to ``grants.check``. ``policy``
    is the gate's: ``role``, ``quorum``, ``not_submitter``, ``ttl_seconds``. The deadline counts from now on
    the database's clock. The preview is what the receiver would see (``tools.previews.render``). With a
    ``predecessor`` the question is its next generation; ``edited`` says who changed the arguments since (``by`` the id,
    ``name``, ``why``), ``sent_back`` which proposal before it was sent back (``action`` the id, ``name``, ``why``). An open
    question about the same intent is returned as it is.
    """
    if standing := _standing(intent, PendingAction.Kind.APPROVE):
        return standing
    tenant, submitter = Tenant.objects.get(pk=tenant_id), User.objects.get(pk=submitter_id)
    opened = db_now()
    expires_at = opened + timedelta(seconds=int(policy.get("ttl_seconds") or DEFAULT_TTL_SECONDS))
    asked: dict[str, Any] = {
        "agent": agent,
        "sentence": sentence,
        "risk": risk,
        "irreversible": irreversible,
        "second_gesture": second_gesture,
        "preview": dict(preview),
        "rationale": rationale,
        "evidence": list(evidence),
        "policy": dict(policy),
        "verdicts": list(APPROVE_VERDICTS),
        "generation": predecessor.generation + 1 if predecessor else 1,
        "expires_at": expires_at,
    }
    action_id = new_id()
    data = shown.approval(
        action_id=action_id,
        bound=shown.bound_facts(intent=intent, contract=contract, tenant=tenant, epoch=epoch),
        contract=contract,
        submitter=rules.submitter_facts(submitter),
        **_history(predecessor, edited, sent_back),
        **asked,
    )
    action: PendingAction = PendingAction.everywhere.create(
        id=action_id,
        tenant_id=tenant_id,
        kind=PendingAction.Kind.APPROVE,
        intent=intent,
        run_id=run_id,
        step_id=step_id,
        epoch=epoch,
        target=target,
        shown=data,
        digest=shown.digest_of(data),
        submitter=submitter,
        successor_of=predecessor,
        editors=_editors(predecessor, edited),
        **{**asked, "sentence": sentence[:500]},
        **chase.times(policy, opened=opened, ends=expires_at),
    )
    return _told(action)


def _history(
    predecessor: PendingAction | None, edited: Mapping[str, str] | None, sent_back: Mapping[str, str] | None
) -> dict[str, Any]:
    """What came before this version, as shown. Who changed the arguments, and what they answer to, stays said in the
    versions after it."""
    if predecessor is None:
        return {"replaces": None, "edited": edited, "sent_back": sent_back}
    try:
        true = shown.digest_of(predecessor.shown) == predecessor.digest
        then = shown.read(predecessor.shown) if true else {}
    except BadInput:
        then = {}
    return {
        "replaces": {"action": predecessor.pk.hex, "digest": predecessor.digest},
        "edited": edited or then.get("edited"),
        "sent_back": sent_back or then.get("sent_back"),
    }


def _editors(predecessor: PendingAction | None, edited: Mapping[str, str] | None) -> list[uuid.UUID]:
    """Everybody whose hand is in the arguments: four eyes count them through all versions."""
    before = list(predecessor.editors) if predecessor else []
    return list(dict.fromkeys([*before, *([uuid.UUID(edited["by"])] if edited else [])]))


def open_settle(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID,
    epoch: int,
    intent: Intent,
    submitter_id: uuid.UUID,
    sentence: str,
    facts: Any,
) -> PendingAction:
    """Ask what became of an effect that nobody can tell. It never expires: silence must not decide what is
    true.

    Joins the caller's transaction. An open question about the same intent is returned as it is.
    """
    if standing := _standing(intent, PendingAction.Kind.SETTLE):
        return standing
    return _question(
        kind=PendingAction.Kind.SETTLE,
        verdicts=list(SETTLE_VERDICTS),
        policy={**rules.SETTLE_POLICY, "quorum": _as_many(intent), **chase.patience()},
        tenant_id=tenant_id,
        run_id=run_id,
        step_id=step_id,
        epoch=epoch,
        submitter_id=submitter_id,
        sentence=sentence,
        facts=facts,
        intent=intent,
    )


def _as_many(intent: Intent) -> int:
    """What several people had to allow takes as many to say what became of it."""
    grant = PendingAction.everywhere.filter(pk=intent.grant).first() if intent.grant else None
    return min(rules.quorum(grant), MOST_SETTLE) if grant else 1


def open_takeover(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID | None,
    epoch: int,
    submitter_id: uuid.UUID,
    sentence: str,
    facts: Any,
) -> PendingAction:
    """Ask a person to look at a run that cannot go on by itself. Joins the caller's transaction."""
    return _question(
        kind=PendingAction.Kind.TAKE_OVER,
        verdicts=list(TAKE_OVER_VERDICTS),
        policy={**rules.TAKE_OVER_POLICY, **chase.patience()},
        tenant_id=tenant_id,
        run_id=run_id,
        step_id=step_id,
        epoch=epoch,
        submitter_id=submitter_id,
        sentence=sentence,
        facts=facts,
        intent=None,
    )


def open_answer(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID,
    epoch: int,
    submitter_id: uuid.UUID,
    agent: str,
    sentence: str,
    schema: Mapping[str, Any],
    role: str,
    seconds: int,
    facts: Mapping[str, Any],
) -> PendingAction:
    """Ask the people of ``role`` a question whose answer must fit ``schema`` (JSON Schema of an object). Whoever submitted
    the task may answer when ``role`` is submitter, and never otherwise. Time counts on the database's clock; when it runs
    out there is no answer. Joins the caller's transaction."""
    expires_at = db_now() + timedelta(seconds=seconds)
    return _question(
        kind=PendingAction.Kind.ANSWER,
        verdicts=list(ANSWER_VERDICTS),
        policy={"role": role, "quorum": 1, "not_submitter": role != Role.SUBMITTER, "ttl_seconds": seconds},
        tenant_id=tenant_id,
        run_id=run_id,
        step_id=step_id,
        epoch=epoch,
        submitter_id=submitter_id,
        sentence=sentence,
        facts={**facts, "schema": dict(schema), "expires_at": expires_at.isoformat()},
        intent=None,
        agent=agent,
        expires_at=expires_at,
    )


def _standing(intent: Intent, kind: str) -> PendingAction | None:
    """The open question of this kind about an intent; the database allows one."""
    found: PendingAction | None = PendingAction.everywhere.filter(
        intent_id=intent.pk, kind=kind, status=PendingAction.Status.OPEN
    ).first()
    return found


def _question(
    *,
    kind: str,
    verdicts: list[str],
    policy: Mapping[str, Any],
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID | None,
    epoch: int,
    submitter_id: uuid.UUID,
    sentence: str,
    facts: Any,
    intent: Intent | None,
    agent: str = "",
    expires_at: datetime | None = None,
) -> PendingAction:
    submitter = User.objects.get(pk=submitter_id)
    action_id = new_id()
    data = shown.question(
        action_id=action_id,
        kind=kind,
        tenant_id=tenant_id,
        run_id=run_id,
        step_id=step_id,
        epoch=epoch,
        submitter=rules.submitter_facts(submitter),
        sentence=sentence,
        facts=facts,
        policy=policy,
        verdicts=verdicts,
        intent=intent,
    )
    about: dict[str, Any] = {}
    if intent is not None:
        about = {
            "target": intent.target,
            "risk": intent.contract.risk,
            "irreversible": intent.contract.effect_class == EffectClass.IRREVERSIBLE,
        }
    action: PendingAction = PendingAction.everywhere.create(
        id=action_id,
        tenant_id=tenant_id,
        kind=kind,
        intent=intent,
        run_id=run_id,
        step_id=step_id,
        epoch=epoch,
        sentence=sentence[:500],
        shown=data,
        digest=shown.digest_of(data),
        verdicts=verdicts,
        policy=dict(policy),
        submitter=submitter,
        agent=agent,
        expires_at=expires_at,
        **about,
        **chase.times(policy, opened=db_now(), ends=expires_at),
    )
    return _told(action)


def _told(action: PendingAction) -> PendingAction:
    """The new question, announced; when nobody can decide it, that is said at once."""
    announce.opened(action)
    if chase.stuck(only=action.pk) and chase.look(action_id=action.pk):
        action.refresh_from_db(fields=["undecidable_since", "escalated_at"])
    return action
