"""B32 with processes: cancelled while its worker stands still, and while it is dead."""

from __future__ import annotations

import signal

import pytest

from runs import timeline
from runs.engine.cancel import cancel
from runs.engine.reclaim import reclaim, release_gone
from runs.models import Step
from tests.runs.node import real
from tools import workers

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_b32_a_worker_that_stands_still_or_is_dead_holds_up_no_cancel(start, who, how):
    """Guards runs/engine/given_back.py: a lease later the run is CANCELLED, whatever its worker does."""
    node = start()
    run = real.run_of(who, tool="drill.sleep", arguments={"seconds": 3000})
    step = real.running(run)
    if how is signal.SIGKILL:
        node.end(how)
        workers.gone(worker_id=node.worker.pk, how="supervisor")
    else:
        node.send(how)
    cancel(run_id=run.pk, user_id=who[1].pk, reason="not wanted")
    # What the coordinator's duties do.
    real.until(lambda: reclaim() + release_gone() and real.status(run) == "CANCELLED", what="it is cancelled")
    assert Step.everywhere.get(pk=step.pk).status == "CANCELLED"
    assert not Step.everywhere.filter(run=run, finished_at__isnull=True).exists()
    assert timeline.verify(run_id=run.pk) == []
