"""The guard of L1 for one locked step: owner, fence, both epochs, and the lease by the database's clock."""

import uuid

from django.db.models import F
from django.db.models.functions import Now

from runs.engine.types import Claimed
from runs.engine.workspace import Locked
from runs.models import Step, StepDependency
from tools.models import WorkerProcess


def holds(run: Locked, step: Step, claimed: Claimed, *, worker_id: uuid.UUID, mode: str = "held") -> bool:
    """Whether ``worker_id`` still owns this execution. ``mode``: ``held`` asks for a running lease, ``expired`` for one
    that ran out, ``gone`` for an owner that is proven gone. Both rows are locked by the caller."""
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
    running = Step.everywhere.filter(pk=step.pk, lease_until__gt=Now()).exists()
    return running if mode == "held" else not running


def inputs_changed(step: Step) -> bool:
    """Whether an output that this execution was given is not the accepted one any more (L13). The run is locked."""
    consumed = StepDependency.objects.filter(step=step, consumed_fence__isnull=False)
    return consumed.exclude(consumed_fence=F("needs__fence")).exists()
