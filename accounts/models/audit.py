"""The audit chain: one per tenant, append-only, every entry bound to the one before by a keyed hash."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models.base import TenantRow
from accounts.models.people import Tenant, User


class AuditHead(models.Model):
    """The end of a tenant's chain; locked while an entry is appended, always as the last lock of a
    transaction."""

    tenant = models.OneToOneField(Tenant, on_delete=models.PROTECT, primary_key=True, related_name="+")
    sequence = models.BigIntegerField(default=0)
    hash = models.BinaryField(max_length=32, default=bytes(32))


class AuditEntry(TenantRow):
    """One act. ``actor`` is empty for acts of the system, which ``actor_kind`` then names
    (``policy:timeout``, ``engine``). ``key`` names the key of ``hash``; empty: the one derived from SECRET_KEY."""

    sequence = models.BigIntegerField()
    actor = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    actor_kind = models.CharField(max_length=40, default="person")
    channel = models.CharField(max_length=20, default="system")
    act = models.CharField(max_length=60)
    subject_kind = models.CharField(max_length=30)
    subject_id = models.CharField(max_length=60)
    run_id = models.UUIDField(null=True, blank=True)
    payload = models.JSONField(default=dict)
    at = models.DateTimeField(db_default=Now())
    hash = models.BinaryField(max_length=32)
    key = models.CharField(max_length=16, blank=True, default="", db_default="")

    everywhere: ClassVar[models.Manager[Any]] = models.Manager()

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "sequence"], name="audit_sequence_once"),
            models.CheckConstraint(condition=Q(sequence__gt=0), name="audit_sequence_from_one"),
        ]
        indexes = [
            models.Index(fields=["tenant", "at"], name="audit_by_time"),
            models.Index(fields=["run_id"], name="audit_by_run", condition=Q(run_id__isnull=False)),
            models.Index(
                fields=["tenant", "actor", "sequence"],
                name="audit_by_person",
                condition=Q(actor__isnull=False),
            ),
        ]
