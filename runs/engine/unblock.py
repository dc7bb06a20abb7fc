"""Unblock: steps that begin held back because of a switch, a paused tool or a rule go on when that is gone. A poll, so
that nobody has to remember what a lifted stop held up. Lock order: run, step."""

import uuid

from django.db import transaction

from accounts.failpoints import fp
from runs.engine.each import each
from runs.engine.ending import lock_step, resume_step
from runs.engine.hold_back import IN_LINE, QUOTA
from runs.engine.judge import judge
from runs.engine.record import settle_down
from runs.engine.workspace import locked_one
from runs.models import Step
from tools import intents
from tools.models import Intent
from tools.selectors import Reading, by_id

#: How many held steps are looked through at once.
PAGE = 1_000


def unblock(*, limit: int = 200, run_id: uuid.UUID | None = None, tenant_id: uuid.UUID | None = None) -> int:
    """Asks the gate again for steps that wait outside, of one run, of a tenant or of all; how many go on, at most about
    ``limit``. Those that are still switched off are passed over without a lock, so that they do not stand in the way of
    others. One that fails does not stop the others."""
    held = Step.everywhere.filter(
        status=Step.Status.WAITING_EXTERNAL, intent__status=Intent.Status.AUTHORISED
    )
    # Those have ways of their own (`runs.engine.let_in`).
    held = held.exclude(error_code__in=(IN_LINE, QUOTA)).order_by("id")
    if run_id is not None:
        held = held.filter(run_id=run_id)
    if tenant_id is not None:
        held = held.filter(tenant_id=tenant_id)
    done, last = 0, uuid.UUID(int=0)
    reading = Reading()
    while done < limit:
        page = held.filter(id__gt=last).values_list("id", "run_id", "tenant_id", "intent__tool_id")[:PAGE]
        rows = [(run, step, tenant, tool) for step, run, tenant, tool in page]
        if not rows:
            break
        last = rows[-1][1]
        free = [
            (run, step)
            for run, step, tenant, tool in rows
            if not reading.stops(tenant_id=tenant, tool_id=tool, run_id=run)
        ]
        done += each(free, lambda row: _ask(*row), failing="step %s could not be asked about again")
    return done


def _ask(run_id: uuid.UUID, step_id: uuid.UUID) -> bool:
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        if (
            run is None
            or step is None
            or not run.lives_for(step.kind)
            or step.status != Step.Status.WAITING_EXTERNAL
        ):
            return False
        intent = Intent.everywhere.get(pk=step.intent_id)
        word = judge(run, intent, by_id(intent.contract_id))
        if word.path == "blocked":
            return False
        intents.judged(intent_id=intent.pk, verdict=word.as_json())
        resume_step(run, step, actor="engine", why="unblocked")
        settle_down(workspace)
        fp("unblock.before_commit")
    return True
