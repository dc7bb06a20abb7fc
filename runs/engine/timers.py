"""Timers: waits whose time is over end. The deadline stands in the database, so that no process has to remember it (B06).

Lock order: run, step.
"""

import uuid

from django.db import transaction
from django.db.models.functions import Now

from outbox import bell
from runs import sentences
from runs.engine.each import each
from runs.engine.ending import end_step, lock_step
from runs.engine.record import settle_down
from runs.engine.workspace import locked_one
from runs.models import Step


def end_waits(*, limit: int = 200) -> int:
    """Ends waits that are due; how many. One that fails does not stop the others. A call that is held back is no wait: its
    deadline is that of another try."""
    due = Step.everywhere.filter(
        kind=Step.Kind.WAIT, status=Step.Status.WAITING_EXTERNAL, deadline__lte=Now()
    )
    found = list(due.order_by("deadline").values_list("run_id", "pk")[:limit])
    return each(found, lambda row: _end(*row), failing="the wait %s could not end; it is tried again")


def _end(run_id: uuid.UUID, step_id: uuid.UUID) -> bool:
    """False when a signal was faster. Owns its transaction."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        if run is None or step is None or step.status != Step.Status.WAITING_EXTERNAL:
            return False
        if not Step.everywhere.filter(pk=step_id, deadline__lte=Now()).exists():
            return False
        name = step.input.get("signal", "")
        if name:
            text = sentences.NO_SIGNAL(name=name)
            end_step(run, step, "fail", code="timed_out", text=text)
        else:
            end_step(run, step, "succeed", output={"signal": "", "payload": None})
        settle_down(workspace)
        bell.ring()
    return True
