"""The one decision service. Pages, API, MCP and tasks all come through here.

Who wins: the action's row is locked, so of two answers that race the second sees the first. Lock order:
PendingAction, Intent, audit head.
"""

import ipaddress
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.again import again
from accounts.arrows import RefusedTransition, move
from accounts.canonical import canonical
from accounts.failpoints import fp
from accounts.models import User
from approvals import announce, answers, rules, settle, shown, step_up, viewing
from approvals.clock import db_now
from approvals.errors import AlreadyDecided, Expired, NeedsProof, NotAllowed, Stale, Superseded, Unread
from approvals.models import Decision, PendingAction, Verdict
from tools import intents
from tools.errors import Refused
from tools.models import Intent

#: Which arrow of PendingAction a verdict takes.
ARROWS = {
    Verdict.APPROVE: "approve",
    Verdict.REJECT: "reject",
    Verdict.ASK_CHANGES: "ask_for_changes",
    Verdict.HAPPENED: "settle",
    Verdict.NOT_HAPPENED: "settle",
    Verdict.NOBODY_KNOWS: "settle",
    Verdict.ANSWER: "answer",
    Verdict.CONTINUE: "answer",
    Verdict.FAIL: "answer",
}


@dataclass(frozen=True, slots=True)
class Sight:
    """What the person had before them: digest and generation travelled with the form."""

    digest: str
    generation: int


@dataclass(frozen=True, slots=True)
class Door:
    """Who answers, through which door, and how they proved who they are; ``fresh`` says lately. ``batch`` is shared by
    answers given at once."""

    user_id: uuid.UUID
    channel: str
    authenticated: str
    address: str | None = None
    batch: uuid.UUID | None = None
    fresh: bool = False


@again
def decide(
    *,
    action_id: uuid.UUID,
    user_id: uuid.UUID,
    verdict: str,
    digest: str,
    generation: int,
    channel: str,
    authenticated: str,
    fresh: bool = False,
    comment: str = "",
    reference: str = "",
    evidence: Sequence[Any] = (),
    gesture: str = "",
    more: str = "",
    answer: Any = None,
    address: str | None = None,
    now: datetime | None = None,
) -> Decision:
    """Record one person's answer to one action. Owns its transaction.

    Approve, once enough people agreed, makes the action a grant and authorises its intent; everything is
    announced in the same transaction. ``answer`` is the value that a question of kind
    *answer* asks for. The same answer by the same person again gives the first decision (a
    double click); any other second answer raises. ``authenticated`` says how the person proved who they are,
    ``fresh`` that they did so lately enough for high risk (or came with a token granted for it: ``approvals.step_up``);
    ``more`` is what a person who continues a run adds to the limit that had stopped it (seconds, for times);
    ``now`` is for tests.

    Raises NotAllowed, NeedsProof, AlreadyDecided, Superseded, Stale, Expired, BadAnswer (``approvals.errors``); each
    changes nothing.
    """
    given = answers.read(
        verdict=verdict,
        comment=comment,
        reference=reference,
        evidence=evidence,
        gesture=gesture,
        more=more,
        answer=answer,
    )
    with transaction.atomic(durable=True):
        action, sight = _lock(action_id), Sight(digest, generation)
        if first := replay(action, user_id, given, sight):
            return first
        judge(action, user_id, given, sight, now, channel=channel)
        decision = record(action, given, sight, Door(user_id, channel, authenticated, address, fresh=fresh))
        fp("decided.before_commit")
    fp("decided.committed")
    return decision


def _lock(action_id: uuid.UUID) -> PendingAction:
    action: PendingAction = PendingAction.everywhere.select_for_update(of=("self",)).get(pk=action_id)
    return action


def judge(
    action: PendingAction,
    user_id: uuid.UUID,
    given: answers.Answer,
    sight: Sight,
    now: datetime | None = None,
    *,
    channel: str,
) -> None:
    """Everything that must hold before an answer is taken; raises what does not, and changes nothing."""
    check_standing(action, sight, now)
    if reasons := rules.refusals(action=action, user_id=user_id, verdict=given.verdict):
        raise NotAllowed(reasons)
    answers.check(action, given, user_id=user_id)
    if given.verdict == Verdict.APPROVE and viewing.unread(action, user_id=user_id, channel=channel):
        raise Unread


def record(action: PendingAction, given: answers.Answer, sight: Sight, door: Door) -> Decision:
    """The answer and all it changes, after :func:`judge`. The action is locked; joins the caller's transaction. Raises
    NeedsProof for what is of high risk, when the door cannot vouch for who is there now."""
    if step_up.needed(action, given.verdict) and not door.fresh:
        raise NeedsProof
    user = User.objects.get(pk=door.user_id)
    right = rules.authority(action=action, user_id=door.user_id)
    decision: Decision = Decision.everywhere.create(
        tenant_id=action.tenant_id,
        action=action,
        user=user,
        authenticated=door.authenticated,
        channel=door.channel,
        verdict=given.verdict,
        digest_seen=sight.digest,
        generation=sight.generation,
        reference=given.reference,
        comment=given.comment,
        evidence=list(given.evidence),
        edited={"limit": answers.limit_of(action), "more": given.more} if given.more else None,
        answer=given.answer,
        address=_address(door.address),
        authority=right.code,
        stands_for=right.stands_for,
        batch=door.batch,
        **_looked(action, door),
    )
    _apply(action, decision, user)
    return decision


def _looked(action: PendingAction, door: Door) -> dict[str, Any]:
    """Since when the person had it before them, and whether they opened all of it; unknown where no page reported it."""
    before = viewing.of(action, door.user_id)
    if before is None:
        return {"opened_at": None, "payload_opened": None}
    whole = before.payload_at is not None or not viewing.folded(action)
    return {"opened_at": before.first_at, "payload_opened": whole}


def replay(action: PendingAction, user_id: uuid.UUID, given: answers.Answer, sight: Sight) -> Decision | None:
    """This person's decision, when the answer is the same again; raises when it is another."""
    first: Decision | None = Decision.everywhere.filter(action=action, user_id=user_id).first()
    if first is None:
        return None
    before = (first.verdict, first.comment, first.reference, first.digest_seen, first.generation)
    same = before == (given.verdict, given.comment, given.reference, sight.digest, sight.generation)
    same = same and canonical(first.answer) == canonical(given.answer)
    if same and (first.edited or {}).get("more", "") == given.more:
        return first
    raise AlreadyDecided(action, first)


def check_standing(action: PendingAction, sight: Sight, now: datetime | None) -> None:
    """The question is open, not overtaken, not expired by the database's clock, and the one that was seen."""
    successor = PendingAction.everywhere.filter(successor_of_id=action.pk).first()
    if successor is not None:
        raise Superseded(successor)
    if action.status == PendingAction.Status.EXPIRED:
        raise Expired
    if action.status != PendingAction.Status.OPEN:
        raise AlreadyDecided(action, deciding(action))
    if action.expires_at is not None and (now or db_now()) >= action.expires_at:
        raise Expired
    if sight != Sight(action.digest, action.generation) or shown.digest_of(action.shown) != action.digest:
        raise Stale


def _address(text: str | None) -> str | None:
    """An address as the record keeps it: of a network its first address; nothing when it is none."""
    try:
        return str(ipaddress.ip_interface(text).ip) if text else None
    except ValueError:
        return None


def deciding(action: PendingAction) -> Decision | None:
    """The decision that closed the action: the last one, since signatures come before it."""
    decision: Decision | None = (
        Decision.everywhere.filter(action=action).select_related("user").order_by("-at", "-pk").first()
    )
    return decision


def _apply(action: PendingAction, decision: Decision, user: User) -> None:
    """Everything the answer changes, in lock order; the announcement (audit head) last."""
    verdict = Verdict(decision.verdict)
    payload = {"verdict": verdict.value, "decision": decision.pk.hex, "generation": action.generation}
    payload |= {"added": decision.edited} if decision.edited else {}
    payload |= {"batch": decision.batch.hex} if decision.batch else {}
    if verdict == Verdict.APPROVE or action.kind == PendingAction.Kind.SETTLE:
        # Several people settle an outcome only by giving the same answer.
        agreed = rules.entitled_signers(action, rules.signatures(action, verdict))
        if len(agreed) < rules.quorum(action):
            if action.assignee_id and decision.authority in (rules.DELEGATED, rules.STAND_IN):
                # Who was asked by name has answered; the next signature is for anybody who may.
                PendingAction.everywhere.filter(pk=action.pk).update(assignee=None, delegated_by=None)
            announce.signed(
                action, {**payload, "of": rules.quorum(action)}, actor=user, channel=decision.channel
            )
            return
    try:
        move(action, ARROWS[verdict], changes={"decided_at": decision.at})
        if action.intent_id and verdict == Verdict.APPROVE:
            intents.authorise(intent=_intent(action), grant=action.pk)
        elif action.kind == PendingAction.Kind.SETTLE:
            settle.record(intent=_intent(action), decision=decision)
    except (RefusedTransition, Refused) as error:
        raise Stale(_("The effect is no longer waiting for this answer. Nothing was recorded.")) from error
    act = action.status.lower()
    announce.closed(action, act, payload, actor=user, channel=decision.channel, decided=True)


def _intent(action: PendingAction) -> Intent:
    intent: Intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=action.intent_id)
    return intent
