"""Rights, read from the database at the moment of the act: an active person, in an active tenant, with a
role."""

import uuid

from accounts.models import Membership, Role, User


def membership(*, user_id: uuid.UUID | None, tenant_id: uuid.UUID | None) -> Membership | None:
    """The live membership of a person in a tenant, or None when any part of it is disabled or missing."""
    if user_id is None or tenant_id is None:
        return None
    return (
        Membership.everywhere.select_related("user", "tenant")
        .filter(user_id=user_id, tenant_id=tenant_id, **_LIVE)
        .first()
    )


def memberships(*, user_id: uuid.UUID) -> list[Membership]:
    """Every live membership of a person, in the order of the tenants' names."""
    rows = Membership.everywhere.select_related("user", "tenant").filter(user_id=user_id, **_LIVE)
    return list(rows.order_by("tenant__name", "id"))


def has_role(*, user_id: uuid.UUID | None, tenant_id: uuid.UUID | None, role: Role | str) -> bool:
    """The person holds this role in this tenant now."""
    found = membership(user_id=user_id, tenant_id=tenant_id)
    return found is not None and str(role) in found.roles


def people_with(*, tenant_id: uuid.UUID, role: Role | str) -> list[User]:
    """Everybody who holds this role in the tenant now, in the order of their names."""
    rows = Membership.everywhere.select_related("user").filter(
        tenant_id=tenant_id, roles__contains=[str(role)], **_LIVE
    )
    return [row.user for row in rows.order_by("user__name", "user_id")]


_LIVE = {"disabled_at__isnull": True, "user__is_active": True, "tenant__active": True}
