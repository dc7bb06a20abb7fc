"""Let in: calls that begin held back go on when there is room again under the quota of their tool, or when their resource is
free. A poll, so that nobody has to remember who waits for what; the end of an effect on a resource rings besides, so that
the next one need not wait for the poll.

Begin alone decides: here it is only looked, so that few are woken who have to wait again. Lock order: run, step.
"""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts.failpoints import fp
from accounts.statements import run as ask
from outbox import bell
from runs import sentences
from runs.engine.each import each
from runs.engine.ending import lock_step, resume_step
from runs.engine.hold_back import IN_LINE, QUOTA, say_again, waiting_for_quota
from runs.engine.record import settle_down
from runs.engine.workspace import locked_one
from runs.models import Step
from tools import quotas
from tools.selectors import by_id

#: For so long a step that may be claimed is expected to begin.
COMING = timedelta(minutes=1)
#: What the history says of a step that goes on.
WHY = {IN_LINE: sentences.RESOURCE_FREE, QUOTA: sentences.QUOTA_FREE}
FAILING = "step %s could not be let in; it is tried again"


def let_in(*, limit: int = 200) -> int:
    """Both; how many go on. One that fails does not stop the others."""
    return let_next_in(limit=limit) + let_in_by_quota(limit=limit)


def let_next_in(*, limit: int = 200) -> int:
    """The first in each line before a resource that is free; how many went in."""
    rows = ask("runs", "next_in_line", {"code": IN_LINE, "limit": limit})
    return each(rows, lambda row: _go_on(*row, code=IN_LINE), failing=FAILING)


def let_in_by_quota(*, limit: int = 200) -> int:
    """As many of each tool as there is room for, those first that were promised the earliest time; how many."""
    return each(waiting_for_quota(limit=limit), lambda row: _by_quota(*row, limit=limit), failing=FAILING)


def _by_quota(tenant_id: uuid.UUID, tool: str, contract_id: uuid.UUID, *, limit: int) -> int:
    free = quotas.room(by_id(contract_id))
    mine = Step.everywhere.filter(tenant_id=tenant_id, tool=tool, run__takeover__isnull=True)
    if free:
        # What is on its way to begin takes its place first; what has not come for a while is not waited for.
        soon = Q(not_before__lte=Now(), not_before__gt=Now() - COMING)
        free -= mine.filter(soon, status=Step.Status.PENDING, held=False)[:free].count()
    rows = mine.filter(status=Step.Status.WAITING_EXTERNAL, error_code=QUOTA)
    first = rows.order_by("not_before", "id").values_list("run_id", "id")
    gone_on = each(
        list(first[: limit if free is None else min(free, limit)]),
        lambda row: _go_on(*row, code=QUOTA),
        failing=FAILING,
    )
    if not gone_on:
        late = list(first.filter(not_before__lte=Now())[:limit])
        each(late, lambda row: say_again(*row), failing=FAILING)
    return gone_on


def _go_on(run_id: uuid.UUID, step_id: uuid.UUID, *, code: str) -> bool:
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        if run is None or step is None or not run.plannable:
            return False
        if (step.status, step.error_code) != (Step.Status.WAITING_EXTERNAL, code):
            return False
        resume_step(run, step, actor="engine", why=WHY[code]())
        settle_down(workspace)
        bell.ring()
        fp("let_in.before_commit")
    return True
