"""Begin: the last check before an effect, and the permission to send it (section 5, 1). One transaction over run, step,
action, intent, the sender's row, resource and quota, in that order. From its commit on, only the sender knows what happened.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from accounts import audit
from accounts.arrows import move
from accounts.canonical import canonical
from accounts.failpoints import fp
from accounts.ids import new_id
from accounts.models import Tenant
from approvals import grants
from approvals.clock import db_now
from approvals.models import PendingAction
from approvals.reopen import reopen
from runs import sentences, tallies
from runs.engine import deadlines, reserve
from runs.engine.ask_approval import ask_about
from runs.engine.commit_guard import holds, inputs_changed
from runs.engine.ending import end_step, lock_step
from runs.engine.hold_back import OLDER, hold_back
from runs.engine.judge import judge
from runs.engine.record import settle_down
from runs.engine.taken_back import ask_anew
from runs.engine.types import Claimed, Go, Stop
from runs.engine.unknown import lose, may_send_again
from runs.engine.workspace import Locked, locked_one
from runs.models import Step
from tools import intents, previews, workers
from tools.errors import SenderGone
from tools.gate import Verdict
from tools.models import Contract, Intent
from tools.reasons import Reason
from tools.selectors import by_id

FENCED = Stop("lost", "lease_lost", "This step belongs to another worker now.")
LOST = Stop("lost", "lease_lost", "This step belongs to another worker now, or its task was cancelled.")


def begin(*, claimed: Claimed, worker_id: uuid.UUID, sender: uuid.UUID, pid: int) -> Go | Stop:
    """May this child send this effect now? ``sender`` and ``pid`` are the child's.

    Everything is checked on the rows as they are now: owner, fence, epoch and lease; the state of the run; switches and
    policy; the grant (digest of arguments, contract, target, policy; not expired; not used by another intent; approvers
    still entitled). Owns its transaction.
    """
    try:
        answer = _begin(claimed, worker_id, sender, pid)
    except SenderGone:
        # Somebody proved that this child is gone; whatever it still does, it does not send.
        answer = FENCED
    fp("begin.committed")
    if answer is FENCED or answer is OLDER:
        tallies.add("fence_rejections", "begin" if answer is FENCED else "resource")
    return answer


def _begin(claimed: Claimed, worker_id: uuid.UUID, sender: uuid.UUID, pid: int) -> Go | Stop:
    with transaction.atomic(durable=True):
        workspace, run = locked_one(claimed.run_id)
        step = lock_step(claimed.step_id)
        if run is None or step is None or not holds(run, step, claimed, worker_id=worker_id):
            return FENCED
        if not run.lives_for(step.kind):
            return LOST
        if run.takeover is not None or _limited(run):
            held_up = _give_back(run, step, "taken_over", sentences.TAKE_OVER_FIRST())
            settle_down(workspace)
            return held_up
        if claimed.consumes and inputs_changed(step):
            # An effect made from what is not accepted any more would be another effect (L13).
            held_up = _give_back(run, step, "inputs_changed", sentences.INPUT_CHANGED())
            settle_down(workspace)
            return held_up
        if claimed.intent_id is None:
            answer = _read(run, step, claimed)
            settle_down(workspace)
            return answer
        first = Intent.everywhere.only("grant").get(pk=claimed.intent_id)
        if first.grant:
            PendingAction.everywhere.select_for_update(of=("self",)).get(pk=first.grant)
        intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=claimed.intent_id)
        answer = _decide(run, step, intent, claimed, sender, pid)
        settle_down(workspace)
        fp("begin.before_commit")
    return answer


def _limited(run: Locked) -> bool:
    """Whether a limit of the run stops it. What is undone is undone beyond every limit."""
    return run.plannable and (reserve.stop_if_spent(run) or deadlines.stop_if_late(run))


def _decide(
    run: Locked, step: Step, intent: Intent, claimed: Claimed, sender: uuid.UUID, pid: int
) -> Go | Stop:
    contract = by_id(intent.contract_id)
    match intent.status:
        case Intent.Status.CONFIRMED:
            tallies.add("dedup_hits", "begin")
            return Stop("answered", "confirmed", "The effect has happened already.", intent.answer)
        case Intent.Status.DISPATCHED if (intent.sender_id, intent.fence) == (sender, claimed.fence):
            # This very child still asks, under this very claim: the answer of our own COMMIT got lost before it was told.
            return _told_again(step, intent, contract)
        case Intent.Status.UNKNOWN if may_send_again(run, step, intent) and _stands(
            run, intent, contract, claimed
        ):
            return _send(run, step, intent, contract, claimed, sender, pid)
        case Intent.Status.DISPATCHED | Intent.Status.UNKNOWN:
            lose(run, step, intent, why="sent_before")
            return Stop("unknown", "sent_before", "It was sent before, and its outcome is not known.")
        case Intent.Status.AUTHORISED:
            if not as_recorded(claimed, intent.arguments):
                return _other_bytes(run, step, intent, contract)
        case Intent.Status.PROPOSED if asked := ask_anew(run, step, intent):
            # Its approval was taken back.
            return Stop("waiting", "asked_again", asked.sentence)
        case _:
            end_step(
                run, step, "fail", code="not_authorised", text=sentences.NOT_AUTHORISED(status=intent.status)
            )
            return Stop("lost", "not_authorised", f"The intent is {intent.status}.")
    refused = _refused(run, step, intent, contract)
    return refused or _send(run, step, intent, contract, claimed, sender, pid)


def _send(
    run: Locked, step: Step, intent: Intent, contract: Contract, claimed: Claimed, sender: uuid.UUID, pid: int
) -> Go | Stop:
    # Before the rows that many begins want: the sender's is made once, and who is gone waits for none of them.
    sender_id = workers.child_sender(parent_id=_owner(step), sender_id=sender, pid=pid)
    held = hold_back(run, step, contract, claimed, intent=intent)
    return held or _go(run, step, intent, contract, claimed, sender_id)


def _read(run: Locked, step: Step, claimed: Claimed) -> Go | Stop:
    """A call that only reads asks when its tool has a quota. It leaves no dispatch, and the run is not moved."""
    if claimed.contract_id is None:
        return LOST
    contract = by_id(claimed.contract_id)
    held = hold_back(run, step, contract, claimed, intent=None)
    return held or Go(new_id(), "", claimed.fence, _seconds(step, contract))


def _stands(run: Locked, intent: Intent, contract: Contract, claimed: Claimed) -> bool:
    """Whether what was allowed the first time is still allowed. If not, it is no matter of asking for it anew: first it must
    be known what became of the first time."""
    word = judge(run, intent, contract)
    if word.path == "blocked" or not as_recorded(claimed, intent.arguments):
        return False
    if intent.grant is None:
        return word.path == "auto"
    needed = int(word.policy["quorum"]) if word.path == "approval" else 1
    drift = grants.check(
        action_id=intent.grant, intent=intent, contract=contract, epoch=intent.epoch, needed=needed
    )
    return drift is None


def _refused(run: Locked, step: Step, intent: Intent, contract: Contract) -> Stop | None:
    """Switches and rules of now, then the grant."""
    word = judge(run, intent, contract)
    if word.as_json() != intent.verdict:
        intents.judged(intent_id=intent.pk, verdict=word.as_json())
    if word.path == "blocked":
        text = "; ".join(str(reason) for reason in word.reasons)
        _park(run, step, "wait_outside", text, "step.blocked")
        return Stop("waiting", "blocked", text)
    if intent.grant is None:
        if word.path == "auto":
            return None
        return _ask(run, step, intent, contract, word)
    drift = grants.check(
        action_id=intent.grant,
        intent=intent,
        contract=contract,
        epoch=intent.epoch,
        needed=int(word.policy["quorum"]),
    )
    if drift is None:
        return None
    return _ask_again(run, step, intent, contract, word, drift.reasons)


def as_recorded(claimed: Claimed, arguments: Mapping[str, Any]) -> bool:
    """Whether what the child was handed is, byte for byte, what the intent holds: that alone was judged and approved."""
    handed = orjson.loads(claimed.arguments)["arguments"]
    if orjson.dumps(handed, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
        arguments, option=orjson.OPT_SORT_KEYS
    ):
        return True
    return canonical(handed) == canonical(dict(arguments))


def _other_bytes(run: Locked, step: Step, intent: Intent, contract: Contract) -> Stop:
    """The step holds other arguments than its intent. The intent counts (L9): the step gets its arguments back; whoever
    approved is asked again."""
    Step.everywhere.filter(pk=step.pk).update(input={**step.input, "arguments": intent.arguments})
    if intent.grant is None:
        return _give_back(run, step, "arguments", sentences.OTHER_ARGUMENTS())
    word = judge(run, intent, contract)
    return _ask_again(run, step, intent, contract, word, [grants.difference("arguments")])


def _ask(run: Locked, step: Step, intent: Intent, contract: Contract, word: Verdict) -> Stop:
    """The gate let it through once, and wants a person now: another rule is in force, or a total has grown (B62)."""
    intents.revoke(intent_id=intent.pk)
    intent.refresh_from_db(from_queryset=Intent.everywhere.all())
    action = ask_about(run, step, intent, contract, word.asked())
    why = "; ".join(str(reason) for reason in word.reasons)
    _park(run, step, "wait_for_person", action.sentence, "step.waiting", why=why)
    return Stop("waiting", "needs_approval", why)


def _ask_again(
    run: Locked, step: Step, intent: Intent, contract: Contract, word: Verdict, lapsed: Sequence[Reason]
) -> Stop:
    """The grant does not cover it any more: it is void, and the question is asked anew with the difference."""
    why = " ".join(str(reason) for reason in lapsed)
    before = PendingAction.everywhere.filter(pk=intent.grant).first()
    if before is None:
        return _ask(run, step, intent, contract, word)
    if before.status == PendingAction.Status.APPROVED:
        grants.void(action_id=before.pk, reason=why)
    elif intent.status == Intent.Status.AUTHORISED:
        intents.revoke(intent_id=intent.pk)
    intent.refresh_from_db(from_queryset=Intent.everywhere.all())
    tenant = Tenant.objects.get(pk=run.tenant_id)
    reopen(
        action_id=before.pk,
        intent=intent,
        contract=contract,
        epoch=intent.epoch,
        preview={
            **previews.render(contract=contract, arguments=intent.arguments, tenant=tenant),
            "task": run.goal,
        },
        policy={**word.asked(), "lapsed": [reason.as_json() for reason in lapsed]},
    )
    _park(run, step, "wait_for_person", before.sentence, "approval.voided", why=why)
    return Stop("waiting", "grant_void", why)


def _park(run: Locked, step: Step, transition: str, waiting_on: str, event: str, *, why: str = "") -> None:
    changes = {"owner": None, "lease_until": None, "waiting_on": waiting_on[:200]}
    move(step, transition, epoch=step.epoch, changes=changes)
    run.event(
        event, step_id=step.pk, epoch=step.epoch, payload={"key": step.key, "why": (why or waiting_on)[:500]}
    )


def _give_back(run: Locked, step: Step, code: str, text: str) -> Stop:
    """Not now: the step goes back, and is begun anew when nothing stands in the way. It counts as no try."""
    freed = {"owner": None, "lease_until": None, "not_before": Now()}
    move(step, "give_back", epoch=step.epoch, fence=step.fence, changes=freed)
    run.moving = True
    run.event("step.waiting", step_id=step.pk, epoch=step.epoch, payload={"key": step.key, "why": code})
    return Stop("waiting", code, text)


def _owner(step: Step) -> uuid.UUID:
    if step.owner_id is None:
        raise ValueError("a running step has an owner")
    owner: uuid.UUID = step.owner_id
    return owner


def _go(
    run: Locked, step: Step, intent: Intent, contract: Contract, claimed: Claimed, sender_id: uuid.UUID
) -> Go:
    if intent.grant:
        grants.consume(action_id=intent.grant)
    seconds = _seconds(step, contract)
    dispatch_id = new_id()
    way_back = run.reading.way_back(contract) if step.kind != Step.Kind.UNDO else None
    if way_back is not None:
        intents.snapshot(intent=intent, compensation=way_back)
    send = intents.send_again if intent.status == Intent.Status.UNKNOWN else intents.dispatch
    send(
        intent=intent,
        sender_id=sender_id,
        dispatch_id=dispatch_id,
        fence=claimed.fence,
        deadline_seconds=min(seconds, settings.COUNTERSIGN.lease_seconds),
    )
    payload = {"key": step.key, "tool": step.tool, "dispatch": dispatch_id.hex, "intent": intent.pk.hex}
    run.event("step.sending", step_id=step.pk, epoch=step.epoch, fence=claimed.fence, payload=payload)
    audit.append(
        tenant_id=run.tenant_id,
        act="intent.dispatched",
        subject=("intent", intent.pk.hex),
        run_id=run.id,
        actor_kind="engine",
        payload={**payload, "fence": claimed.fence, "request_digest": intent.request_digest},
    )
    version = run.version + 1 if run.version == claimed.version else -1
    return Go(dispatch_id, intent.key, claimed.fence, seconds, version)


def _told_again(step: Step, intent: Intent, contract: Contract) -> Go | Stop:
    if intent.dispatch_id is None:
        return LOST
    return Go(intent.dispatch_id, intent.key, intent.fence, _seconds(step, contract))


def _seconds(step: Step, contract: Contract) -> float:
    """How long the sender may take: the limit of the contract, and never past the lease as it stands."""
    until = Step.everywhere.filter(pk=step.pk).values_list("lease_until", flat=True).get()
    return min(float(contract.timeout_seconds), (until - db_now()).total_seconds()) if until else 0.0
