"""End a group without forgetting it."""

import uuid

from django.db import transaction
from django.db.models.functions import Now

from accounts import audit
from accounts.models import Group
from accounts.verbs import checks
from accounts.verbs.add_group import open_group


def close_group(
    *, tenant_id: uuid.UUID, actor_id: uuid.UUID, group_id: uuid.UUID, channel: str = "web"
) -> None:
    """A rule that names it lets nobody decide from now on. Owns its transaction. Raises
    :class:`accounts.errors.Refused`, and Group.DoesNotExist for an id of another tenant."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        group = open_group(tenant_id=tenant_id, group_id=group_id)
        Group.everywhere.filter(pk=group.pk).update(closed_at=Now())
        audit.append(
            tenant_id=tenant_id,
            act="group.closed",
            subject=("group", group.pk.hex),
            payload={"name": group.name},
            actor=actor_id,
            channel=channel,
        )
