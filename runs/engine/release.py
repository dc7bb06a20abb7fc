"""Dependencies: what may start now, and what never can. Joins a transaction that holds the runs."""

import uuid

from accounts.statements import statement
from approvals.withdraw import withdraw_asked
from runs import sentences
from runs.engine.ending import end_step, lock_step
from runs.engine.workspace import Locked, Workspace, cursor
from tools import intents
from tools.models import Intent

#: Of these it is sure that nothing was sent.
NEVER_SENT = (Intent.Status.PROPOSED, Intent.Status.AUTHORISED, Intent.Status.REJECTED)


def release_held(workspace: Workspace) -> None:
    """Steps whose dependencies are met may start; those that never can are cancelled and the agent is told. Joins."""
    waiting = [run.id for run in workspace.runs.values() if run.has_held]
    if not waiting:
        return
    freed = cursor()
    freed.execute(statement("runs", "release_held"), {"runs": waiting})
    for run_id, status in freed.fetchall():
        run = workspace.runs[run_id]
        run.moving = run.moving or status == "PENDING"
    unmet = cursor()
    unmet.execute(statement("runs", "unmet_steps"), {"runs": waiting})
    for run_id, step_id in unmet.fetchall():
        _never(workspace.runs[run_id], step_id)


def _never(run: Locked, step_id: uuid.UUID) -> None:
    """A step that can never start ends, and with it what was asked about it and its intent (B57)."""
    step = lock_step(step_id)
    if step is None:
        return
    if step.intent_id:
        withdraw_asked(intent_id=step.intent_id, reason=sentences.NOT_MET())
        intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=step.intent_id)
        if intent.status in NEVER_SENT:
            intents.void(intent_id=intent.pk)
    end_step(run, step, "cancel", code="dependency_not_met")
