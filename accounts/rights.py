"""Rights, read from the database at the moment of the act: an active person, in an active tenant, with a
role."""

import uuid
from collections.abc import Iterable

from django.db.models.functions import Now

from accounts.models import Absence, Group, Membership, Role, Tenant, User


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


def live(*, tenant_id: uuid.UUID, user_ids: Iterable[uuid.UUID] | None = None) -> list[Membership]:
    """The live memberships of a tenant in the order of names; with ``user_ids``, of these people alone. One query."""
    rows = Membership.everywhere.select_related("user", "tenant").filter(tenant_id=tenant_id, **_LIVE)
    if user_ids is not None:
        rows = rows.filter(user_id__in=list(user_ids))
    return list(rows.order_by("user__name", "user_id"))


def group_members(*, tenant_id: uuid.UUID, name: str) -> frozenset[uuid.UUID] | None:
    """The people in an open group of a tenant, whether or not they are still active; None when no group of exactly this
    name is open. One query."""
    rows = Group.everywhere.filter(tenant_id=tenant_id, name=name, closed_at__isnull=True)
    found = list(rows.values_list("places__user_id", flat=True))
    return frozenset(user_id for user_id in found if user_id) if found else None


def groups_of(*, user_id: uuid.UUID, tenant_id: uuid.UUID) -> list[str]:
    """The names of the open groups that a person is in."""
    rows = Group.everywhere.filter(tenant_id=tenant_id, closed_at__isnull=True, places__user_id=user_id)
    return list(rows.order_by("name").values_list("name", flat=True))


def away(*, tenant_id: uuid.UUID, user_ids: Iterable[uuid.UUID] | None = None) -> list[Absence]:
    """Who is away at this instant by the database's clock, the longest absence last; with ``user_ids``, of these people
    alone. One query."""
    rows = Absence.everywhere.select_related("stand_in").filter(
        tenant_id=tenant_id, begins_at__lte=Now(), ends_at__gt=Now(), cancelled_at__isnull=True
    )
    if user_ids is not None:
        rows = rows.filter(user_id__in=list(user_ids))
    return list(rows.order_by("ends_at", "id"))


def escalation_owners(*, tenant_id: uuid.UUID) -> list[User]:
    """Who gets what nobody else can decide: the person whom the tenant names, and every administrator while it names none or
    that person is no member any more."""
    named = Tenant.objects.values_list("escalation_owner_id", flat=True).get(pk=tenant_id)
    found = membership(user_id=named, tenant_id=tenant_id)
    return [found.user] if found else people_with(tenant_id=tenant_id, role=Role.ADMINISTRATOR)


def owns_escalations(member: Membership) -> bool:
    """This live member is among :func:`escalation_owners`."""
    named = member.tenant.escalation_owner_id
    if named == member.user_id or Role.ADMINISTRATOR not in member.roles:
        return named == member.user_id
    return named is None or membership(user_id=named, tenant_id=member.tenant_id) is None


_LIVE = {"disabled_at__isnull": True, "user__is_active": True, "tenant__active": True}
