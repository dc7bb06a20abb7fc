"""Results that came too late."""

from django.db import models
from django.db.models.functions import Now

from accounts.models import TenantRow
from runs.models.run import Run
from runs.models.step import Step


class Quarantined(TenantRow):
    """The result of an execution that had lost its step: kept once for each fence, never changed, never read by the
    engine (L6). ``epoch`` and ``run_epoch`` are those under which it ran; ``worker_id`` reported it. ``run_status`` is the
    state of the run when it came; ``terminal``: the run had ended (S2)."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    step = models.ForeignKey(Step, on_delete=models.PROTECT, related_name="+")
    run_epoch = models.PositiveIntegerField()
    epoch = models.PositiveIntegerField()
    fence = models.BigIntegerField()
    attempt = models.PositiveIntegerField()
    worker_id = models.UUIDField()
    ending = models.CharField(max_length=12)
    output = models.JSONField(null=True)
    output_digest = models.CharField(max_length=64, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_text = models.CharField(max_length=1000, blank=True)
    run_status = models.CharField(max_length=20)
    terminal = models.BooleanField()
    received_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["step", "fence"], name="quarantined_once")]
