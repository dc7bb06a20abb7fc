"""How one person stands to one question: what they looked at, and what they set aside."""

from django.db import models
from django.db.models.functions import Now

from accounts.models import TenantRow, User
from approvals.models.action import PendingAction


class Viewing(TenantRow):
    """When a person first had a question before them, and when they had opened everything that was folded."""

    action = models.ForeignKey(PendingAction, on_delete=models.PROTECT, related_name="viewings")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    first_at = models.DateTimeField(db_default=Now(), editable=False)
    payload_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["action", "user"], name="viewing_once_per_person")]


class FollowUp(TenantRow):
    """A person set a question aside until ``at``. It stands in everybody else's list as before."""

    action = models.ForeignKey(PendingAction, on_delete=models.PROTECT, related_name="follow_ups")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["action", "user"], name="follow_up_once_per_person")]
        indexes = [models.Index(fields=["user", "at"], name="follow_up_of_person")]
