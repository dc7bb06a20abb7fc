"""Answers of the API under a client's key."""

from django.db import models
from django.db.models.functions import Now

from accounts.models.base import TenantRow
from accounts.models.people import User


class IdempotentRequest(TenantRow):
    """One POST of one person under an ``Idempotency-Key``. ``status`` is empty while it is under way; ``digest`` is the
    SHA-256 of method, path and body: the same key with anything else is refused (B77)."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=120)
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    headers = models.JSONField(default=dict)
    started_at = models.DateTimeField(db_default=Now())

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "user", "key"], name="idempotent_key_once")]
        indexes = [models.Index(fields=["started_at"], name="idempotent_age")]
