"""The transactional outbox."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.ids import new_id
from accounts.models import Tenant


class Message(models.Model):
    """One fact to tell. ``key`` orders: messages of one key leave in the order of ``id`` (UUIDv7). ``id``
    is the event id."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, null=True, on_delete=models.PROTECT, related_name="+")
    topic = models.CharField(max_length=60)
    key = models.CharField(max_length=80, blank=True)
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    published_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    dead_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(published_at__isnull=True) | Q(dead_at__isnull=True),
                name="message_published_or_dead",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["next_attempt_at", "id"],
                name="message_unpublished",
                condition=Q(published_at__isnull=True, dead_at__isnull=True),
            ),
            models.Index(
                fields=["key", "id"],
                name="message_key_head",
                condition=Q(published_at__isnull=True, dead_at__isnull=True) & ~Q(key=""),
            ),
            models.Index(fields=["created_at"], name="message_dead", condition=Q(dead_at__isnull=False)),
        ]


class Receipt(models.Model):
    """A consumer has handled an event. The unique pair is what drops repeats."""

    consumer = models.CharField(max_length=60)
    event_id = models.UUIDField()
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["consumer", "event_id"], name="receipt_once")]
        indexes = [models.Index(fields=["at"], name="receipt_age")]
