"""What a tenant is given, and what its recent failures cost it."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Tenant


class TenantTerms(models.Model):
    """A tenant's share of the workers and how long its payloads are kept. A tenant without a row has the defaults.

    ``weight``: its part in claims beside tenants of weight 1 · ``lease_quota``: how many steps may run at a time, null for
    the setting · ``retention_days``: payloads of runs that ended longer ago are erased, null for the setting, 0 for never.
    ``debt`` is the number of recent failures as of ``debt_at``; it halves with the setting's half-life, so its value now is
    computed where it is read (L18). It is no count of anything that stands in rows.
    """

    tenant = models.OneToOneField(Tenant, primary_key=True, on_delete=models.PROTECT, related_name="terms")
    weight = models.FloatField(default=1, db_default=1, validators=[MinValueValidator(0.01)])
    lease_quota = models.PositiveIntegerField(null=True, blank=True)
    retention_days = models.PositiveIntegerField(null=True, blank=True)
    debt = models.FloatField(default=0, db_default=0, editable=False)
    debt_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(weight__gt=0), name="terms_weight_above_zero"),
            models.CheckConstraint(condition=Q(debt__gte=0), name="terms_debt_not_negative"),
        ]

    def __str__(self) -> str:
        return str(self.tenant_id)
