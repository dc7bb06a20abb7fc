"""Record: what became of an effect (section 5). One transaction per outcome; lock order run, step, action, intent.

CONFIRMED is the truth of the world and is taken from any sender, even when the lease is lost. REJECTED and UNKNOWN are
taken only from the current dispatch. Whatever was dispatched and has no answer is UNKNOWN (``runs.engine.unknown``).
"""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from accounts.arrows import move
from accounts.failpoints import fp
from runs import sentences
from runs.engine import artifacts, damage, given_back, reserve, retry, spending, undone
from runs.engine.commit_guard import holds
from runs.engine.ending import end_step, lock_step
from runs.engine.release import release_held
from runs.engine.status import derive
from runs.engine.types import CHARGED, DAMAGED, Committed, Outcome
from runs.engine.unknown import close, in_time, lose
from runs.engine.workspace import Locked, Workspace, locked_one
from runs.models import Run, Step
from tools import intents
from tools.errors import Refused
from tools.models import Contract, Intent
from tools.selectors import by_id

#: Codes of outcomes in which nothing can have left: the child ended before it heard go, or found its time over.
NEVER_HANDED_OVER = ("not_sent", "too_late", "begin_failed")


def record(*, worker_id: uuid.UUID, outcome: Outcome, mode: str, done: Committed) -> None:
    """Records one outcome of a step with an intent; adds to ``done`` what was refused and which events were written."""
    claimed = outcome.claimed
    with transaction.atomic(durable=True):
        workspace, run = locked_one(claimed.run_id)
        step = lock_step(claimed.step_id)
        intent = Intent.everywhere.select_for_update(of=("self",)).filter(pk=claimed.intent_id).first()
        if run is None or step is None or intent is None:
            done.refused.append(outcome)
            return
        ours = holds(run, step, claimed, worker_id=worker_id, mode=mode)
        if ours:
            run.failures += outcome.ending in CHARGED
            _ours(run, step, intent, outcome)
        else:
            done.refused.append(outcome)
            _late(run, step, intent, outcome)
        settle_down(workspace)
        fp("record.before_commit")
    fp("record.committed")
    done.events[claimed.run_id] = run.head.sequence
    done.more = True


def settle_down(workspace: Workspace) -> None:
    """What every single verb does at its end: free dependants, insert steps, derive states, write. Joins."""
    release_held(workspace)
    workspace.insert_steps()
    derive(workspace.runs.values())
    workspace.write()


def _ours(run: Locked, step: Step, intent: Intent, outcome: Outcome) -> None:
    contract = by_id(intent.contract_id)
    # UNKNOWN already: what its sender said came too late to count, but before the step was taken from it.
    dispatched = intent.status in (Intent.Status.DISPATCHED, Intent.Status.UNKNOWN)
    if dispatched and outcome.error_code not in NEVER_HANDED_OVER:
        spending.book_call(run, outcome)
    match outcome.ending:
        case "succeeded":
            _succeeded(run, step, intent, outcome)
        case _ if intent.status == Intent.Status.CONFIRMED:
            # Its yes came when the lease had ended, before a sweep came by; that it happened stands.
            end_step(run, step, "succeed", output=intent.answer, extra={"effect": "confirmed", "late": True})
        case "failed" if dispatched and _earlier_is_open(intent, outcome):
            # What it says of this time says nothing of the time before.
            lose(run, step, intent, why="failed", text=outcome.error_text)
        case "failed" if outcome.error_code == DAMAGED and step.kind != Step.Kind.UNDO:
            _unread(run, step, intent, outcome, dispatched=dispatched)
        case "failed" if dispatched:
            evidence = {"kind": "sender", "code": outcome.error_code, "text": outcome.error_text[:500]}
            intents.refuse(intent_id=intent.pk, dispatch_id=_dispatch(outcome, intent), evidence=evidence)
            _failed(run, step, intent, contract, outcome)
        case "failed" | "timeout" | "cancelled" if not dispatched:
            _failed(run, step, intent, contract, outcome)
        case _ if dispatched:
            lose(run, step, intent, why=outcome.ending, text=outcome.error_text)
        case _:
            _give_back(run, step, intent, outcome)


def _earlier_is_open(intent: Intent, outcome: Outcome) -> bool:
    """Whether it was sent before, and what became of that is not known."""
    return intent.open_since is not None or (
        intent.status == Intent.Status.UNKNOWN and outcome.dispatch_id != intent.dispatch_id
    )


def _succeeded(run: Locked, step: Step, intent: Intent, outcome: Outcome) -> None:
    """The far side said yes (or the first answer was given again)."""
    if intent.status != Intent.Status.CONFIRMED:
        intents.confirm(intent_id=intent.pk, answer=outcome.output, reference=outcome.reference)
    close(run, step, intent)
    shas = artifacts.store(run, outcome) if outcome.artifacts else []
    end_step(
        run,
        step,
        "succeed",
        output=outcome.output,
        fence=outcome.claimed.fence,
        artifacts=shas,
        extra={"effect": "confirmed", "reference": outcome.reference[:200], "ms": outcome.milliseconds},
    )


def _failed(run: Locked, step: Step, intent: Intent, contract: Contract, outcome: Outcome) -> None:
    """Known not to have happened. An irreversible write is never tried again by itself (O3)."""
    fresh = Intent.everywhere.get(pk=intent.pk)
    if outcome.error_code in NEVER_HANDED_OVER and not _stopping(run, step) and not _poison(step, 1):
        # Begun, but the sender was never told to go, or said itself that it did not: the approval still stands.
        if fresh.status == Intent.Status.REJECTED:
            intents.allow_again(intent_id=intent.pk)
        _back(run, step, outcome, losses=1)
        return
    again = None
    if not _stopping(run, step):
        again = retry.after(contract, outcome, failures=step.failures, repeatable=undone.repeatable(intent))
    if again and in_time(step, again):
        if fresh.status == Intent.Status.REJECTED:
            intents.allow_again(intent_id=intent.pk)
        _back(run, step, outcome, failures=1, again=again)
        reserve.stop_if_spent(run)
        return
    if step.kind == Step.Kind.UNDO and not _stopping(run, step):
        undone.stuck(run, step, code=outcome.error_code or "failed", text=outcome.error_text)
        return
    _never_sent(step)
    end_step(
        run,
        step,
        "fail",
        code=outcome.error_code or "failed",
        text=outcome.error_text,
        fence=outcome.claimed.fence,
        extra={"effect": "not_happened"},
    )
    if not _stopping(run, step) and given_back.gave_up(run, outcome, "FAILED"):
        run.steps = [new for new in run.steps if new.kind != "plan"]


def _poison(step: Step, losses: int) -> bool:
    """Whether it was lost, or not handed over, too often to be tried again."""
    return bool(step.losses + losses >= settings.COUNTERSIGN.max_losses)


def _stopping(run: Locked, step: Step) -> bool:
    """Whether nobody would claim what goes back."""
    return not run.lives_for(step.kind)


def _unread(run: Locked, step: Step, intent: Intent, outcome: Outcome, *, dispatched: bool) -> None:
    """An artifact that it was to send is damaged: nothing was sent, the approval stands, and the step waits (S15)."""
    if dispatched:
        evidence = {"kind": "sender", "code": DAMAGED, "text": outcome.error_text[:500]}
        intents.refuse(intent_id=intent.pk, dispatch_id=_dispatch(outcome, intent), evidence=evidence)
        if run.plannable:
            intents.allow_again(intent_id=intent.pk)
    if not run.plannable:
        intents.void(intent_id=intent.pk)
    damage.wait(run, step, outcome)


def _give_back(run: Locked, step: Step, intent: Intent, outcome: Outcome) -> None:
    """Nothing was sent: the step may run again, unless it keeps killing its worker or its run is being cancelled."""
    if _stopping(run, step):
        _never_sent(step)
        end_step(run, step, "cancel", code="cancelled")
        return
    losses = 1 if outcome.ending == "lost" else 0
    if _poison(step, losses):
        if step.kind == Step.Kind.UNDO:
            text = sentences.WORKER_DIED(times=step.losses + losses)
            undone.stuck(run, step, code="worker_lost", text=text)
            return
        intents.void(intent_id=intent.pk)
        end_step(
            run,
            step,
            "fail",
            code="worker_lost",
            text=sentences.WORKER_DIED(times=step.losses + losses),
        )
        return
    _back(run, step, outcome, losses=losses)


def _back(
    run: Locked,
    step: Step,
    outcome: Outcome,
    *,
    failures: int = 0,
    losses: int = 0,
    again: retry.Again | None = None,
) -> None:
    changes: dict[str, Any] = {
        "owner": None,
        "lease_until": None,
        "waiting_on": "",
        "not_before": Now() + timedelta(seconds=again.delay if again else 0),
        "failures": step.failures + failures,
        "losses": step.losses + losses,
        "error_code": outcome.error_code[:60],
        "error_text": outcome.error_text[:1000],
    }
    move(step, "give_back", epoch=step.epoch, changes=changes)
    run.moving = True
    # Never "step.failed" and the like: those say that a step has ended, and this one has not.
    word = outcome.ending if outcome.ending in ("lost", "waiting") else "drained"
    run.event(
        f"step.{'retried' if failures else word}",
        step_id=step.pk,
        epoch=step.epoch,
        fence=step.fence,
        payload={"key": step.key, "attempt": step.attempt},
    )


def _never_sent(step: Step) -> None:
    """The intent of a step that ends before anything was sent."""
    intent = Intent.everywhere.get(pk=step.intent_id)
    if intent.status in (Intent.Status.AUTHORISED, Intent.Status.PROPOSED, Intent.Status.REJECTED):
        intents.void(intent_id=intent.pk)


def _late(run: Locked, step: Step, intent: Intent, outcome: Outcome) -> None:
    """Not ours any more. Only the truth that it happened is still taken: it ends the unknown (section 5, 3). Of anything
    else it is kept that this sender sends no more."""
    if outcome.dispatch_id is None or outcome.ending not in ("succeeded", "unknown", "failed"):
        return
    if outcome.ending != "succeeded":
        try:
            evidence = {"kind": "sender", "why": "late", "text": outcome.error_text[:500]}
            intents.lose(
                intent_id=intent.pk, dispatch_id=outcome.dispatch_id, evidence=evidence, sender_done=True
            )
        except Refused:
            return
        return
    try:
        intents.confirm(
            intent_id=intent.pk,
            answer=None if _erased(run) else outcome.output,
            reference=outcome.reference,
            evidence={"kind": "late sender"},
        )
    except Refused:
        return
    close(run, step, intent)
    if step.status == Step.Status.UNKNOWN:
        end_step(run, step, "succeed", output=outcome.output, extra={"effect": "confirmed", "late": True})


def _erased(run: Locked) -> bool:
    """Whether retention has taken the payloads of the run: then what comes late leaves none."""
    return Run.everywhere.filter(pk=run.id, erased_at__isnull=False).exists()


def _dispatch(outcome: Outcome, intent: Intent) -> uuid.UUID:
    """The dispatch that the sender speaks of; the current one when it was killed before it could tell."""
    current = intent.dispatch_id
    if current is None:
        raise Refused("refuse", intent.pk, intent.status, "nothing was dispatched")
    return outcome.dispatch_id or current
