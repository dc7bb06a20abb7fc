"""Change what a person may do in a tenant."""

import uuid
from collections.abc import Iterable

from django.db import transaction

from accounts import audit
from accounts.models import Membership
from accounts.verbs import checks


def change_roles(
    *,
    tenant_id: uuid.UUID,
    actor_id: uuid.UUID,
    membership_id: uuid.UUID,
    roles: Iterable[str],
    channel: str = "web",
) -> Membership:
    """Owns its transaction. Raises Membership.DoesNotExist for an id of another tenant."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        member = checks.person(membership_id=membership_id, tenant_id=tenant_id)
        wanted, before = checks.roles(roles), list(member.roles)
        if wanted == before:
            return member
        Membership.everywhere.filter(pk=member.pk).update(roles=wanted)
        checks.someone_administers(tenant_id=tenant_id)
        audit.append(
            tenant_id=tenant_id,
            act="membership.roles_changed",
            subject=("user", member.user_id.hex),
            payload={"before": before, "after": wanted},
            actor=actor_id,
            channel=channel,
        )
    member.roles = wanted
    return member
