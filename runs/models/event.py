"""The history of a run: append-only, gapless, hash-chained, kept by months."""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q

from accounts.models import Tenant
from accounts.scope import TenantManager
from runs.models.run import Run


class Event(models.Model):
    """One line of history. Payloads hold text, whole numbers, booleans, lists and objects only, so that the hash can be
    computed again from the stored row. Written by ``runs.timeline`` alone.

    The table has a partition for each month of ``at``, which is why ``at`` is part of the key; that a run has no number
    twice follows from its lock and shows in the chain. ``erased`` is the SHA-256 of a payload that retention took away.
    """

    pk = models.CompositePrimaryKey("run_id", "sequence", "at")
    tenant = models.ForeignKey(
        Tenant, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    # Written under the run's lock, and runs stay: docs/decisions/0020.
    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="events", db_constraint=False, db_index=False
    )
    sequence = models.BigIntegerField()
    step_id = models.UUIDField(null=True, blank=True)
    type = models.CharField(max_length=40)
    actor = models.CharField(max_length=60, default="engine", db_default="engine")
    epoch = models.PositiveIntegerField(default=0, db_default=0)
    fence = models.BigIntegerField(default=0, db_default=0)
    input_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    artifacts = ArrayField(models.CharField(max_length=64), default=list)
    payload = models.JSONField(default=dict)
    at = models.DateTimeField()
    hash = models.BinaryField(max_length=32)
    erased = models.BinaryField(max_length=32, null=True, blank=True)

    objects: ClassVar[TenantManager[Any]] = TenantManager()
    everywhere: ClassVar[models.Manager[Any]] = models.Manager()

    class Meta:
        base_manager_name = "everywhere"
        constraints = [
            models.CheckConstraint(condition=Q(sequence__gt=0), name="event_sequence_from_one"),
        ]
        # Lines come in the order of time, so a range of blocks is a range of time: the index is a few pages.
        indexes: ClassVar[list[Any]] = [BrinIndex(fields=["at"], name="event_time", autosummarize=True)]
