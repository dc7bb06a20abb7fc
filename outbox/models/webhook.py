"""Webhooks, per Standard Webhooks."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow


class WebhookEndpoint(TenantRow):
    """Where a tenant wants to be told. ``secrets`` are encrypted; the first signs, the others still
    verify."""

    url = models.URLField(max_length=500)
    topics = ArrayField(models.CharField(max_length=60), default=list)
    secrets = ArrayField(models.BinaryField(), default=list)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "url"], name="webhook_url_once")]


class WebhookDelivery(TenantRow):
    """One event for one endpoint."""

    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField()
    topic = models.CharField(max_length=60)
    body = models.JSONField(default=dict)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    delivered_at = models.DateTimeField(null=True)
    dead_at = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.TextField(blank=True, default="")

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["endpoint", "event_id"], name="webhook_delivery_once")]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                name="webhook_due",
                condition=Q(delivered_at__isnull=True, dead_at__isnull=True),
            )
        ]
