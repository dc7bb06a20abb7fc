"""Unblock: steps that begin held back because of a switch, a paused tool or a rule go on when that is gone. A poll, so
that nobody has to remember what a lifted stop held up. Lock order: run, step."""

import uuid

from django.db import transaction

from accounts.failpoints import fp
from runs.engine.each import each
from runs.engine.ending import lock_step, resume_step
from runs.engine.record import settle_down
from runs.engine.workspace import locked_one
from runs.models import Step
from tools.models import Intent
from tools.selectors import by_id, verdict


def unblock(*, limit: int = 200) -> int:
    """Asks the gate again for steps that wait outside; how many go on. One that fails does not stop the others."""
    held = Step.everywhere.filter(
        status=Step.Status.WAITING_EXTERNAL, intent__status=Intent.Status.AUTHORISED
    )
    found = list(held.order_by("id").values_list("run_id", "id")[:limit])
    return each(found, lambda row: _ask(*row), failing="step %s could not be asked about again")


def _ask(run_id: uuid.UUID, step_id: uuid.UUID) -> bool:
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        if run is None or step is None or not run.plannable or step.status != Step.Status.WAITING_EXTERNAL:
            return False
        intent = Intent.everywhere.get(pk=step.intent_id)
        word = verdict(
            tenant_id=run.tenant_id,
            contract=by_id(intent.contract_id),
            arguments=intent.arguments,
            run_id=run_id,
            key=intent.key,
        )
        if word.path == "blocked":
            return False
        resume_step(run, step, actor="engine", why="unblocked")
        settle_down(workspace)
        fp("unblock.before_commit")
    return True
