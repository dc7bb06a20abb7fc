"""Set the terms of a tenant: its share, its quota, and how long its payloads are kept."""

import uuid

from django.db import transaction

from accounts import audit
from runs.models import TenantTerms


def set_terms(
    *,
    tenant_id: uuid.UUID,
    weight: float | None = None,
    lease_quota: int | None = None,
    retention_days: int | None = None,
) -> TenantTerms:
    """Changes what is given and leaves the rest. Owns its transaction; the change is audited."""
    given = {"weight": weight, "lease_quota": lease_quota, "retention_days": retention_days}
    changes = {name: value for name, value in given.items() if value is not None}
    with transaction.atomic(durable=True):
        terms, _created = TenantTerms.objects.update_or_create(tenant_id=tenant_id, defaults=changes)
        audit.append(
            tenant_id=tenant_id,
            act="tenant.terms_set",
            subject=("tenant", tenant_id.hex),
            actor_kind="operator",
            payload={name: str(value) for name, value in changes.items()},
        )
    return terms
