"""Change the name and the people of a group."""

import uuid
from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import audit, rights
from accounts.errors import Refused
from accounts.models import Group, GroupMember
from accounts.verbs import checks
from accounts.verbs.add_group import free_name, open_group


def change_group(
    *,
    tenant_id: uuid.UUID,
    actor_id: uuid.UUID,
    group_id: uuid.UUID,
    name: str,
    user_ids: Iterable[uuid.UUID],
    channel: str = "web",
) -> Group:
    """Set the name and exactly these members. It counts at once, also for what waits and for signatures that were not
    used yet. Who has left the tenant may stay in a group, and comes in nowhere by it.

    Owns its transaction. Raises :class:`accounts.errors.Refused`, and Group.DoesNotExist for an id of another tenant.
    """
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        group = open_group(tenant_id=tenant_id, group_id=group_id)
        wanted_name = free_name(name, tenant_id=tenant_id, but=group.pk)
        before = set(GroupMember.everywhere.filter(group=group).values_list("user_id", flat=True))
        wanted = set(user_ids)
        fresh = wanted - before
        if fresh != {one.user_id for one in rights.live(tenant_id=tenant_id, user_ids=fresh)}:
            text = _("Only active members can be put into a group. Nothing was changed.")
            raise Refused("not_a_member", text, field="members")
        gone = before - wanted
        if not fresh and not gone and wanted_name == group.name:
            return group
        Group.everywhere.filter(pk=group.pk).update(name=wanted_name)
        GroupMember.everywhere.filter(group=group, user_id__in=gone).delete()
        GroupMember.everywhere.bulk_create(
            GroupMember(tenant_id=tenant_id, group=group, user_id=user_id) for user_id in sorted(fresh)
        )
        audit.append(
            tenant_id=tenant_id,
            act="group.changed",
            subject=("group", group.pk.hex),
            payload={
                "name": wanted_name,
                "before": group.name,
                "added": [user_id.hex for user_id in sorted(fresh)],
                "removed": [user_id.hex for user_id in sorted(gone)],
            },
            actor=actor_id,
            channel=channel,
        )
    group.name = wanted_name
    return group
