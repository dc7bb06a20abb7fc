"""Taken over: a person answered what becomes of a run that could not go on by itself. Whoever still works for it is
revoked first, so that a person decides about something that stands still (section 6). Joins; lock order: run, step,
action, intent."""

import uuid

from approvals import grants
from approvals.models import Decision, PendingAction, Verdict
from approvals.withdraw import withdraw_open
from runs import sentences
from runs.engine import compensate, damage
from runs.engine.allow_more import allow_more
from runs.engine.end_run import end_as_failed
from runs.engine.release import NEVER_SENT
from runs.engine.revoke import revoke
from runs.engine.unknown import stop
from runs.engine.workspace import Locked
from runs.models import Run, Step
from tools import intents
from tools.models import Intent


def apply(run: Locked, action: PendingAction, decision: Decision | None) -> None:
    """*Continue*: a new epoch, and the agent is asked again from where the run stands. *End as failed*: what has not
    started is cancelled; the run fails as soon as nobody has to say any more what became of an effect."""
    run.event(
        "run.takeover_answered",
        actor=f"user:{decision.user_id.hex}" if decision and decision.user_id else "engine",
        payload={"action": action.pk.hex, "verdict": decision.verdict if decision else ""},
    )
    if run.status == Run.Status.COMPENSATING:
        compensate.answered(run, decision)
        return
    if decision is None or not run.plannable:
        return
    revoke(run, why="taken_over", ends=decision.verdict == Verdict.FAIL)
    run.takeover = None
    if decision.verdict == Verdict.FAIL:
        _fail(run, decision)
        return
    allow_more(run, decision)
    if (decision.answer or {}).get("entry") == "after" and action.step_id:
        _leave_out(run, action.step_id, decision)
    damage.go_on(run, actor=f"user:{decision.user_id.hex}" if decision.user_id else "engine")
    if not _planning(run):
        run.plan_again()


def _leave_out(run: Locked, step_id: uuid.UUID, decision: Decision) -> None:
    """The agent goes on as if the step had never been wanted; what became of it stays in its row."""
    step = Step.everywhere.get(pk=step_id)
    Step.everywhere.filter(pk=step_id).update(input={**step.input, "left_out": True})
    who = f"user:{decision.user_id.hex}" if decision.user_id else "engine"
    run.event("step.left_out", step_id=step_id, actor=who, payload={"key": step.key})


def _planning(run: Locked) -> bool:
    """Whether the agent is about to be asked already."""
    asked = Step.everywhere.filter(run_id=run.id, kind=Step.Kind.PLAN, status=Step.Status.PENDING)
    if asked.exists():
        run.moving = True
        return True
    return False


def _fail(run: Locked, decision: Decision) -> None:
    _stop_waiting(run)
    text = decision.comment or sentences.ENDED_BY_PERSON()
    if Step.everywhere.filter(run_id=run.id, status=Step.Status.UNKNOWN).exists():
        # It ends when the last of them is settled (`runs.engine.status`).
        run.failure = {"code": "taken_over", "text": text[:1000]}
        return
    end_as_failed(run, "taken_over", text)


def _stop_waiting(run: Locked) -> None:
    """Steps that have not started end with the run, and so does what was asked about them (B57)."""
    waiting = Step.everywhere.select_for_update(of=("self",), no_key=True).filter(
        run_id=run.id, status__in=["PENDING", "WAITING_APPROVAL", "WAITING_EXTERNAL"]
    )
    for step in waiting.order_by("pk"):
        stop(run, step, code="run_ended")
    withdraw_open(
        run_id=run.id,
        kinds=[PendingAction.Kind.APPROVE, PendingAction.Kind.ANSWER],
        reason=sentences.ENDED(),
    )
    grants.void_unused(run_id=run.id, reason=sentences.ENDED())
    never_sent = Intent.everywhere.select_for_update(of=("self",)).filter(
        run_id=run.id, status__in=NEVER_SENT
    )
    for intent in never_sent.order_by("pk"):
        intents.void(intent_id=intent.pk)
    run.steps = []
