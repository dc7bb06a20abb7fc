"""Worker processes: one row per process start, and how each is known to be gone."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Now

from accounts.ids import new_id
from accounts.models import User


class WorkerProcess(models.Model):
    """A process that may send. ``parent`` is the node's main process for a child. ``gone_how`` is the proof
    that it cannot send any more: ``clean`` exit, ``lock`` of the node released, ``supervisor`` saw it die,
    ``attested`` by a person. ``agents`` are the digests of the agents whose code a main process has; empty: not told.
    ``last_bell_at``: when a message last reached it through the broker."""

    class Kind(models.TextChoices):
        MAIN = "main"
        CHILD = "child"
        COORDINATOR = "coordinator"

    class Gone(models.TextChoices):
        CLEAN = "clean"
        LOCK = "lock"
        SUPERVISOR = "supervisor"
        ATTESTED = "attested"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    node = models.CharField(max_length=120)
    host = models.CharField(max_length=120)
    boot_id = models.CharField(max_length=64)
    pid = models.PositiveIntegerField()
    lockfile = models.CharField(max_length=300, blank=True)
    started_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now())
    last_claim_at = models.DateTimeField(null=True)
    last_bell_at = models.DateTimeField(null=True)
    draining = models.BooleanField(default=False, db_default=False)
    agents = ArrayField(
        models.CharField(max_length=64), default=list, db_default=Value([], ArrayField(models.CharField()))
    )
    stopped_at = models.DateTimeField(null=True)
    gone_how = models.CharField(max_length=12, choices=Gone.choices, blank=True, default="", db_default="")
    gone_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(stopped_at__isnull=True) & Q(gone_how=""))
                | (Q(stopped_at__isnull=False) & ~Q(gone_how="")),
                name="worker_gone_has_a_proof",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["boot_id"], name="worker_alive", condition=Q(stopped_at__isnull=True))
        ]
