"""The guard of L1 for one locked step: owner, fence, epoch, and the lease by the database's clock."""

import uuid

from django.db.models.functions import Now

from runs.engine.types import Claimed
from runs.models import Step
from tools.models import WorkerProcess


def holds(step: Step, claimed: Claimed, *, worker_id: uuid.UUID, mode: str = "held") -> bool:
    """Whether ``worker_id`` still owns this execution. ``mode``: ``held`` asks for a running lease, ``expired`` for one
    that ran out, ``gone`` for an owner that is proven gone. The step is locked by the caller."""
    if (step.status, step.fence, step.epoch, step.owner_id) != (
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
