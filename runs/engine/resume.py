"""Resume: the engine acts on what people decided. The bell may be lost: every poll looks for decided actions that were
not applied yet, so a lost bell costs time, never truth (B26).

Lock order: run, step, action, intent.
"""

import uuid

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts.again import again
from accounts.failpoints import fp
from approvals.models import Decision, PendingAction, Verdict
from outbox import bell
from runs import sentences
from runs.engine import query, taken_over, unknown
from runs.engine.each import each
from runs.engine.ending import end_step, lock_step, resume_step
from runs.engine.late import conflict
from runs.engine.record import settle_down
from runs.engine.taken_back import ask_anew
from runs.engine.workspace import Locked, locked_one
from runs.models import Step
from runs.states import RUN_TERMINAL
from tools import intents, workers
from tools.models import Intent
from tools.reconcile import By, Next, Said, decide

Status = PendingAction.Status


def resume_decided(*, limit: int = 100) -> int:
    """Applies decided actions; how many were applied. One that fails does not stop the others."""
    waiting = PendingAction.everywhere.filter(~Q(status=Status.OPEN), applied_at__isnull=True)
    found = list(waiting.order_by("decided_at").values_list("pk", flat=True)[:limit])
    failing = "action %s could not be applied; it is tried again"
    return each(found, lambda action_id: resume(action_id=action_id), failing=failing)


@again
def resume(*, action_id: uuid.UUID) -> bool:
    """Applies one decided action; False when it was applied before, is still open, or must still wait for the proof that
    no old sender can send. Owns its transaction."""
    run_id = PendingAction.everywhere.filter(pk=action_id).values_list("run_id", flat=True).first()
    if run_id is None:
        return False
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        seen = PendingAction.everywhere.get(pk=action_id)
        step = lock_step(seen.step_id) if seen.step_id else None
        action = PendingAction.everywhere.select_for_update(of=("self",)).get(pk=action_id)
        if run is None or action.status == Status.OPEN or action.applied_at is not None:
            return False
        if not _apply(run, step, action):
            return False
        PendingAction.everywhere.filter(pk=action_id).update(applied_at=Now())
        settle_down(workspace)
        bell.ring()
        fp("resume.before_commit")
    fp("resume.committed")
    return True


def _apply(run: Locked, step: Step | None, action: PendingAction) -> bool:
    if run.status in RUN_TERMINAL:
        conflict(run, "decision", subject=("action", action.pk.hex))
        return True
    match action.kind, action.status:
        case PendingAction.Kind.APPROVE, Status.APPROVED:
            _approved(run, step, action)
        case PendingAction.Kind.APPROVE, Status.VOIDED | Status.WITHDRAWN:
            _taken_back(run, step, action)
        case PendingAction.Kind.APPROVE, Status.REJECTED | Status.CHANGES_REQUESTED:
            _refused(run, step, action)
        case PendingAction.Kind.SETTLE, Status.SETTLED:
            return _settled(run, step, action)
        case PendingAction.Kind.ANSWER, Status.ANSWERED:
            _answered(run, step, action)
        case PendingAction.Kind.TAKE_OVER, Status.ANSWERED:
            taken_over.apply(run, action, _decision(action))
    return True


def _decision(action: PendingAction) -> Decision | None:
    return Decision.everywhere.filter(action=action).order_by("-at").select_related("user").first()


def _actor(decision: Decision | None) -> str:
    return f"user:{decision.user_id.hex}" if decision and decision.user_id else "engine"


def _approved(run: Locked, step: Step | None, action: PendingAction) -> None:
    if step is None or step.status != Step.Status.WAITING_APPROVAL or not run.lives_for(step.kind):
        return
    resume_step(run, step, actor=_actor(_decision(action)), why="approved")


def _taken_back(run: Locked, step: Step | None, action: PendingAction) -> None:
    if step is None or action.intent_id is None:
        return
    intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=action.intent_id)
    if ask_anew(run, step, intent):
        run.event(
            "approval.taken_back", step_id=step.pk, payload={"key": step.key, "why": action.void_reason}
        )


def _refused(run: Locked, step: Step | None, action: PendingAction) -> None:
    """The proposal ends with its reason; the agent is told and goes on without it."""
    decision = _decision(action)
    if action.intent_id:
        intent = Intent.everywhere.get(pk=action.intent_id)
        if intent.status in (Intent.Status.PROPOSED, Intent.Status.AUTHORISED):
            intents.void(intent_id=intent.pk)
    if step is None or step.status != Step.Status.WAITING_APPROVAL:
        return
    code = "rejected" if action.status == Status.REJECTED else "changes_requested"
    end_step(
        run,
        step,
        "fail",
        code=code,
        text=decision.comment if decision else "",
        actor=_actor(decision),
        extra={"action": action.pk.hex},
    )


def _answered(run: Locked, step: Step | None, action: PendingAction) -> None:
    """The answer is the output of the step that asked."""
    decision = _decision(action)
    if step is None or step.status != Step.Status.WAITING_APPROVAL or decision is None:
        return
    end_step(
        run, step, "succeed", output=decision.answer, actor=_actor(decision), extra={"action": action.pk.hex}
    )


def _settled(run: Locked, step: Step | None, action: PendingAction) -> bool:
    """*It happened*, *nobody can know*, or *it did not*; the last goes on only when no old sender can still send."""
    decision = _decision(action)
    if step is None or step.status != Step.Status.UNKNOWN or decision is None or action.intent_id is None:
        return True
    intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=action.intent_id)
    actor, extra = _actor(decision), {"action": action.pk.hex, "settled": decision.verdict}
    if intent.status != Intent.Status.UNKNOWN:
        query.drop(run, step)
    match intent.status:
        case Intent.Status.CONFIRMED:
            end_step(run, step, "succeed", output=intent.answer, actor=actor, extra=extra)
        case Intent.Status.ABANDONED:
            text = sentences.NOBODY_KNOWS()
            end_step(run, step, "fail", code="nobody_knows", text=text, actor=actor, extra=extra)
        case Intent.Status.UNKNOWN if decision.verdict == Verdict.NOT_HAPPENED:
            return _not_happened(run, step, intent, decision)
    return True


def _not_happened(run: Locked, step: Step, intent: Intent, decision: Decision) -> bool:
    given = unknown.facts(run, step, intent, said=Said.NO, said_at=decision.at, by=By.PERSON)
    match decide(given):
        case Next.WAIT:
            stands = workers.may_go_on(intent=intent, resend=run.lives_for(step.kind))
            unknown.wait_for(step, str(stands or ""))
            return False
        case Next.NOT_HAPPENED:
            unknown.not_happened(run, step, intent, actor=_actor(decision))
        case Next.ASK:
            # Who looked while it could still be sent cannot know of what was sent after the look. The far side can.
            query.plan(run, step, intent, after=0.0)
        case _:
            unknown.ask(run, step, intent, why=unknown.TOO_EARLY, text=decision.comment)
    return True
