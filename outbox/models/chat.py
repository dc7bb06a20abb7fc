"""Where a person, or a whole tenant, is told by chat."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow, User


class ChatTarget(TenantRow):
    """An address in the form of apprise, sealed, for one person; without a person, for the tenant. ``service`` and ``hint``
    are what is shown of it. ``kinds`` are the notes that a tenant's chat hears, empty for all. ``failing_since``: nothing
    was taken since then."""

    user = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    service = models.CharField(max_length=20)
    hint = models.CharField(max_length=120)
    sealed = models.BinaryField()
    kinds = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    failing_since = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "user"], name="chat_target_once", condition=Q(user__isnull=False)
            ),
            models.UniqueConstraint(
                fields=["tenant"], name="chat_target_of_tenant_once", condition=Q(user__isnull=True)
            ),
        ]
