"""A person took an approval back before it was used: the question is asked anew. Joins a transaction that holds run, step
and intent.
"""

from accounts.arrows import move
from approvals.models import PendingAction
from runs.engine.ask_approval import ask_about
from runs.engine.ending import resume_step
from runs.engine.judge import judge
from runs.engine.workspace import Locked
from runs.models import Step
from tools.models import Intent
from tools.selectors import by_id

Status = Step.Status


def ask_anew(run: Locked, step: Step, intent: Intent) -> PendingAction | None:
    """The open question about this effect, asked now if it does not stand yet; the step waits for it. Nothing when the run
    takes no work or the effect is not waiting for consent (the intent of a step that is over is void)."""
    if not run.plannable or intent.status != Intent.Status.PROPOSED:
        return None
    asked = PendingAction.everywhere.filter(
        intent=intent, kind=PendingAction.Kind.APPROVE, status=PendingAction.Status.OPEN
    ).first()
    if asked is None:
        before = PendingAction.everywhere.filter(intent=intent, kind=PendingAction.Kind.APPROVE)
        last = before.order_by("-generation").first()
        contract = by_id(intent.contract_id)
        word = judge(run, intent, contract)
        why, evidence = (last.rationale, last.evidence) if last else ("", ())
        asked = ask_about(run, step, intent, contract, word.asked(), why=why, evidence=evidence)
    waiting_on = asked.sentence[:200]
    if step.status == Status.WAITING_EXTERNAL:
        # A switch held it up; what it waits for now is a person.
        moved = run.moving
        resume_step(run, step, actor="engine", why="approval_taken_back")
        run.moving = moved
    if step.status in (Status.PENDING, Status.RUNNING):
        # Whoever held it is refused at begin: it has no owner any more.
        freed = {"owner": None, "lease_until": None, "waiting_on": waiting_on}
        move(step, "wait_for_person", epoch=step.epoch, changes=freed)
    elif step.status == Status.WAITING_APPROVAL:
        Step.everywhere.filter(pk=step.pk).update(waiting_on=waiting_on)
    return asked
