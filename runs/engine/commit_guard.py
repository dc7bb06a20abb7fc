"""The guard of L1 for one locked step: owner, fence, both epochs, and the lease by the database's clock."""

import uuid
from typing import Any

from django.db.models import F
from django.db.models.functions import Now

from accounts.statements import run as select
from runs.engine.types import Claimed
from runs.engine.workspace import Locked
from runs.models import Step, StepDependency
from runs.states import RUN_PLANNABLE
from tools.models import WorkerProcess


def holds(run: Locked, step: Step, claimed: Claimed, *, worker_id: uuid.UUID, mode: str = "held") -> bool:
    """Whether ``worker_id`` still owns this execution. ``mode``: ``held`` asks for a running lease, ``expired`` for one
    that ran out and a step that another may take, ``gone`` for an owner that is proven gone, ``stopped`` for nothing more:
    the owner itself says that it has stopped. Both rows are locked by the caller."""
    if (run.epoch, step.status, step.fence, step.epoch, step.owner_id) != (
        claimed.run_epoch,
        Step.Status.RUNNING,
        claimed.fence,
        claimed.epoch,
        worker_id,
    ):
        return False
    if mode == "gone":
        return WorkerProcess.objects.filter(pk=worker_id, stopped_at__isnull=False).exists()
    if mode == "stopped":
        return True
    running = Step.everywhere.filter(pk=step.pk, lease_until__gt=Now()).exists()
    return running if mode == "held" else not running and not withheld(limit=1, only=step.pk)


def withheld(*, limit: int, only: uuid.UUID | None = None, fresh: bool = False) -> list[tuple[Any, ...]]:
    """Steps whose lease ran out and that stay with their owner: ``withheld_steps``. Joins."""
    given = {"limit": limit, "only": only, "fresh": fresh, "plannable": list(RUN_PLANNABLE)}
    return select("runs", "withheld_steps", given)


def inputs_changed(step: Step) -> bool:
    """Whether an output that this execution was given is not the accepted one any more (L13). The run is locked."""
    consumed = StepDependency.objects.filter(step=step, consumed_fence__isnull=False)
    return consumed.exclude(consumed_fence=F("needs__fence")).exists()
