"""What people say about findings."""

from django.db import models
from django.db.models.functions import Now

from accounts.models import TenantRow, User
from runs.models.run import Run


class FindingCorrection(TenantRow):
    """A person marked a finding wrong (or took that back); append-only, the newest row of a finding counts."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="corrections")
    document = models.CharField(max_length=64)
    finding = models.CharField(max_length=120)
    wrong = models.BooleanField(default=True)
    note = models.CharField(max_length=1000, blank=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        indexes = [models.Index(fields=["run", "document", "finding"], name="correction_by_finding")]
