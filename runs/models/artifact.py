"""Artifacts: large values by content hash; the row holds the address."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow, User
from runs.models.run import Run
from runs.models.step import Step


class Artifact(TenantRow):
    """A stored value. ``uri`` is made from the SHA-256 alone; ``name`` is what a person called it: display data, never a
    path. An upload has no run until it is submitted. ``quarantined`` marks a result that came too late."""

    class Kind(models.TextChoices):
        UPLOAD = "upload"
        INPUT = "input"
        OUTPUT = "output"
        REPORT = "report"
        EVIDENCE = "evidence"

    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="artifacts")
    step = models.ForeignKey(Step, null=True, blank=True, on_delete=models.PROTECT, related_name="artifacts")
    fence = models.BigIntegerField(default=0)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    media_type = models.CharField(max_length=100)
    uri = models.CharField(max_length=200)
    metadata = models.JSONField(default=dict, blank=True)
    quarantined = models.BooleanField(default=False)
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.CheckConstraint(condition=Q(size__gte=0), name="artifact_size_not_negative"),
            models.CheckConstraint(
                condition=Q(kind="upload") | Q(run__isnull=False), name="artifact_of_a_run"
            ),
        ]
        indexes = [
            models.Index(fields=["sha256", "removed_at"], name="artifact_by_content"),
            models.Index(
                fields=["removed_at"],
                name="artifact_to_remove",
                condition=Q(removed_at__isnull=False) & ~Q(uri=""),
            ),
        ]
