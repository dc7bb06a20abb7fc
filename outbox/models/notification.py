"""Notes to people: what was told to whom, over which channel, and whether it arrived."""

from django.db import models

from accounts.models import TenantRow, User


class Notification(TenantRow):
    """One note to one person over one channel. A dead channel never blocks a decision or another
    recipient."""

    class Status(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        FAILED = "failed"

    event_id = models.UUIDField()
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    channel = models.CharField(max_length=20, default="mail")
    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=300)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True, default="")

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["event_id", "user", "channel"], name="notification_once")
        ]
