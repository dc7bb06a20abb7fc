"""Webhooks, per Standard Webhooks."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow, User


class WebhookEndpoint(TenantRow):
    """Where a tenant wants to be told. ``events`` empty: of everything. ``secrets`` are sealed, the newest first; the
    others sign too until ``old_secrets_until``. ``failing_since``: no delivery was taken since then. ``active`` false with a
    ``disabled_why``: the machine gave up; without: a person switched it off."""

    name = models.CharField(max_length=80, default="")
    url = models.URLField(max_length=500)
    events = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    secrets = ArrayField(models.BinaryField(), default=list)
    old_secrets_until = models.DateTimeField(null=True)
    active = models.BooleanField(default=True)
    disabled_why = models.CharField(max_length=300, blank=True, default="")
    failing_since = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "url"], name="webhook_url_once")]


class WebhookDelivery(TenantRow):
    """One event for one endpoint. ``key`` orders: those of one key go out in the order of ``event_id`` (UUIDv7), and each
    waits for the one before. ``body`` is the ``data`` of the event."""

    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField()
    type = models.CharField(max_length=60)
    key = models.CharField(max_length=80, blank=True, default="")
    body = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    delivered_at = models.DateTimeField(null=True)
    dead_at = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.TextField(blank=True, default="")

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "event_id"], name="webhook_delivery_once"),
            models.CheckConstraint(
                condition=Q(delivered_at__isnull=True) | Q(dead_at__isnull=True),
                name="webhook_delivered_or_dead",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["endpoint", "next_attempt_at"],
                name="webhook_due",
                condition=Q(delivered_at__isnull=True, dead_at__isnull=True),
            ),
            models.Index(
                fields=["endpoint", "key", "event_id"],
                name="webhook_key_head",
                condition=Q(delivered_at__isnull=True, dead_at__isnull=True) & ~Q(key=""),
            ),
            models.Index(fields=["delivered_at"], name="webhook_delivered"),
        ]


class WebhookAttempt(TenantRow):
    """One try of one delivery: what the far side said, cut short. ``status`` empty: nothing was heard."""

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="tries")
    at = models.DateTimeField(db_default=Now(), editable=False)
    milliseconds = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True, default="")
    answer = models.CharField(max_length=500, blank=True, default="")
