"""Reports that an effect happened twice."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow, User
from tools.models.intent import Intent


class DuplicateReport(TenantRow):
    """Somebody says that an effect happened more than once, and how they know; another person confirms or dismisses it
    (L20). ``evidence``: what was seen at the far side, in words; ``reference``: the far side's name for the second one.
    ``reason``: why it was confirmed or dismissed."""

    intent = models.ForeignKey(Intent, on_delete=models.PROTECT, related_name="duplicates")
    evidence = models.TextField()
    reference = models.CharField(max_length=200, blank=True, default="", db_default="")
    reported_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    reported_at = models.DateTimeField(db_default=Now(), editable=False)
    confirmed = models.BooleanField(null=True)
    answered_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True, default="", db_default="")

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=~Q(evidence=""), name="duplicate_has_evidence"),
            models.CheckConstraint(
                condition=Q(confirmed__isnull=True, answered_by__isnull=True, answered_at__isnull=True)
                | Q(confirmed__isnull=False, answered_by__isnull=False, answered_at__isnull=False),
                name="duplicate_answer_has_a_name",
            ),
            models.CheckConstraint(
                condition=Q(answered_by__isnull=True) | ~Q(answered_by=models.F("reported_by")),
                name="duplicate_answer_by_another",
            ),
            models.UniqueConstraint(
                fields=["intent"], condition=Q(confirmed__isnull=True), name="duplicate_open_once"
            ),
        ]
