"""Checks that several verbs share. All of them join the caller's transaction."""

import uuid
from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _

from accounts import rights
from accounts.errors import Refused
from accounts.models import Membership, Role, Tenant


def administrator(*, user_id: uuid.UUID, tenant_id: uuid.UUID) -> Membership:
    """Lock the tenant, so that changes of its people queue, and give the actor's membership; Refused unless
    they administer it now."""
    Tenant.objects.select_for_update().get(pk=tenant_id)
    found = rights.membership(user_id=user_id, tenant_id=tenant_id)
    if found is None or Role.ADMINISTRATOR not in found.roles:
        raise Refused("not_administrator", _("Only an administrator may do this. Nothing was changed."))
    return found


def roles(wanted: Iterable[str]) -> list[str]:
    """Known roles, each once, in the order of :class:`Role`; Refused when there is none or an unknown one."""
    asked = {str(role) for role in wanted}
    if not asked or not asked <= set(Role.values):
        raise Refused("no_role", _("Choose at least one role."), field="roles")
    return [value for value in Role.values if value in asked]


def someone_administers(*, tenant_id: uuid.UUID) -> None:
    """Refused when, after the change just made, nobody could administer the tenant."""
    if not rights.people_with(tenant_id=tenant_id, role=Role.ADMINISTRATOR):
        raise Refused(
            "last_administrator",
            _("This is the last administrator. Nothing was changed. Make somebody else administrator first."),
        )


def person(*, membership_id: uuid.UUID, tenant_id: uuid.UUID) -> Membership:
    """The membership of this tenant, locked; raises Membership.DoesNotExist."""
    rows = Membership.everywhere.select_for_update(of=("self",)).select_related("user")
    found: Membership = rows.get(pk=membership_id, tenant_id=tenant_id)
    return found
