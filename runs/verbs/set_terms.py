"""Set the terms of a tenant: its share, its quota, and how long its payloads are kept."""

import uuid

from django.db import transaction

from accounts import audit
from accounts.models import Tenant
from runs.models import TenantTerms


def set_terms(
    *,
    tenant_id: uuid.UUID,
    weight: float | None = None,
    lease_quota: int | None = None,
    retention_days: int | None = None,
    coverage_floor: int | None = None,
) -> TenantTerms:
    """Changes what is given and leaves the rest. ``coverage_floor``: percent, 0 for none. Owns its transaction; the
    change is audited."""
    given = {"weight": weight, "lease_quota": lease_quota, "retention_days": retention_days}
    changes = {name: value for name, value in given.items() if value is not None}
    floor = None if coverage_floor is None else {"coverage_floor": coverage_floor}
    with transaction.atomic(durable=True):
        terms, _created = TenantTerms.objects.update_or_create(tenant_id=tenant_id, defaults=changes)
        if floor is not None:
            # The gate stands below the workshop, so its floor is kept with the tenant itself.
            Tenant.objects.filter(pk=tenant_id).update(coverage_floor=coverage_floor or None)
        audit.append(
            tenant_id=tenant_id,
            act="tenant.terms_set",
            subject=("tenant", tenant_id.hex),
            actor_kind="operator",
            payload={name: str(value) for name, value in {**changes, **(floor or {})}.items()},
        )
    return terms
