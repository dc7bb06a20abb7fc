"""Counters that survive restarts, for the metrics, and how far the history has been counted."""

from typing import ClassVar

from django.db import models


class Tally(models.Model):
    """One counter: ``name`` without the prefix of the product, ``labels`` the values of its labels joined by ``|``, in the
    order of ``runs.metrics``. Rises only."""

    name = models.CharField(max_length=60)
    labels = models.CharField(max_length=120, blank=True)
    value = models.DecimalField(max_digits=28, decimal_places=6, default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["name", "labels"], name="tally_once")
        ]


class TallyMark(models.Model):
    """How far the history has been counted. Events up to the instant ``counted`` are in the tallies; those up to ``ready``
    may be counted once no transaction is left that is older than ``horizon`` (a transaction id of 64 bits), because what is
    written is seen only when it is committed."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    counted = models.DateTimeField()
    ready = models.DateTimeField()
    horizon = models.BigIntegerField(default=0)
    at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=models.Q(id=1), name="tally_mark_is_one")
        ]


class LostLease(models.Model):
    """A step that was taken back from its worker: when that worker was last heard of, and when another had the step. Kept
    until the old worker is known to be gone, because until then it may still be at work on it. ``why``: its lease
    ``expired``, or its owner is proven ``gone``."""

    step_id = models.UUIDField()
    fence = models.BigIntegerField()
    worker_id = models.UUIDField()
    why = models.CharField(max_length=8)
    seen_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["step_id", "fence"], name="lost_lease_once")
        ]
