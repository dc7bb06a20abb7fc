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
    """How far the history has been counted. Events up to ``counted`` are in the tallies; those up to ``ready`` may be
    counted once no transaction is left that is older than ``horizon`` (a transaction id of 64 bits), because ids are given
    out before they are committed."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    counted = models.BigIntegerField(default=0)
    ready = models.BigIntegerField(default=0)
    horizon = models.BigIntegerField(default=0)
    at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=models.Q(id=1), name="tally_mark_is_one")
        ]


class LostLease(models.Model):
    """A step that was taken back from its worker and not claimed again yet: when that worker was last heard of, so that the
    time to recover is known once another has it. ``why``: its lease ``expired``, or its owner is proven ``gone``."""

    step_id = models.UUIDField()
    fence = models.BigIntegerField()
    why = models.CharField(max_length=8)
    seen_at = models.DateTimeField()
