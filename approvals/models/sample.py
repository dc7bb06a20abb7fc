"""Effects that ran without a person, drawn for somebody to look at afterwards."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import TenantRow, User
from tools.models import Intent


class Sample(TenantRow):
    """One effect that was drawn, and what a person said of it. Nothing waits for the answer; it is for the rules.

    ``submitter`` submitted the task, and so may not answer; ``fits`` is null until somebody answered, then whether the
    effect was as it should be. It is answered once.
    """

    class Reason(models.TextChoices):
        SHARE = "share", _("drawn by lot")
        WEEK = "week", _("the one of its tool for that week")

    intent = models.OneToOneField(Intent, on_delete=models.PROTECT, related_name="sample")
    submitter = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=8, choices=Reason.choices)
    drawn_at = models.DateTimeField(db_default=Now(), editable=False)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    fits = models.BooleanField(null=True, blank=True)
    comment = models.TextField(blank=True, default="", db_default="")

    class Meta(TenantRow.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True, answered_by__isnull=True, fits__isnull=True)
                | Q(answered_at__isnull=False, answered_by__isnull=False, fits__isnull=False),
                name="sample_answered_whole",
            ),
            models.CheckConstraint(
                condition=~Q(fits=False) | ~Q(comment=""), name="sample_misfit_has_a_reason"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "-drawn_at"], name="sample_newest")]
