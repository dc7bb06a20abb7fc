"""Checkpoints and signals."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Tenant, TenantRow
from accounts.scope import TenantManager
from runs.models.run import Run
from runs.models.step import Step


class Checkpoint(models.Model):
    """The least certain state needed to go on (S5), never changed once it is written.

    ``summary`` is the agent's fold over the ``summarised`` oldest ended steps: what a context is rebuilt from, with the
    steps after them. ``state`` names the rest by reference. ``digest`` is the SHA-256 of run, version, summary and state
    as stored; it is compared whenever a context is read.
    """

    tenant = models.ForeignKey(
        Tenant, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="checkpoints", db_index=False)
    version = models.BigIntegerField()
    phase = models.CharField(max_length=200, blank=True, default="", db_default="")
    summarised = models.PositiveIntegerField(default=0, db_default=0)
    summary = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    state = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[TenantManager[Any]] = TenantManager()
    everywhere: ClassVar[models.Manager[Any]] = models.Manager()

    class Meta:
        base_manager_name = "everywhere"
        constraints = [models.UniqueConstraint(fields=["run", "version"], name="checkpoint_version_once")]


class Signal(TenantRow):
    """A fact from outside for a run. One that arrives before its wait is kept; ``external_id`` drops repeats."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="signals")
    name = models.CharField(max_length=80)
    external_id = models.CharField(max_length=120)
    payload = models.JSONField(default=dict)
    consumed_by = models.ForeignKey(Step, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["run", "external_id"], name="signal_external_id_once"),
            models.CheckConstraint(condition=~Q(external_id=""), name="signal_has_an_external_id"),
        ]
