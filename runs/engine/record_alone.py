"""Record one outcome in a transaction of its own, for kinds of steps whose end is not that of an agent's call."""

import uuid
from collections.abc import Callable

from django.db import transaction

from runs.engine.commit_guard import holds
from runs.engine.ending import lock_step
from runs.engine.record import settle_down
from runs.engine.types import Committed, Outcome
from runs.engine.workspace import Locked, locked_one
from runs.models import Step


def record_alone(
    *,
    worker_id: uuid.UUID,
    outcome: Outcome,
    mode: str,
    done: Committed,
    act: Callable[[Locked, Step], None],
) -> None:
    """``act`` on the locked run and step, if the outcome is still theirs; else it is refused. Owns its transaction."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(outcome.claimed.run_id)
        step = lock_step(outcome.claimed.step_id)
        if (
            run is None
            or step is None
            or not holds(run, step, outcome.claimed, worker_id=worker_id, mode=mode)
        ):
            done.refused.append(outcome)
            return
        act(run, step)
        settle_down(workspace)
    done.events[run.id] = run.head.sequence
    done.more = True
