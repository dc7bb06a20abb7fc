"""Make a group that rules may name."""

import uuid

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.models import Group
from accounts.verbs import checks

LONGEST = 80


def add_group(*, tenant_id: uuid.UUID, actor_id: uuid.UUID, name: str, channel: str = "web") -> Group:
    """An open group without members. Owns its transaction. Raises :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        wanted = free_name(name, tenant_id=tenant_id)
        made: Group = Group.everywhere.create(tenant_id=tenant_id, name=wanted)
        audit.append(
            tenant_id=tenant_id,
            act="group.added",
            subject=("group", made.pk.hex),
            payload={"name": wanted},
            actor=actor_id,
            channel=channel,
        )
    return made


def free_name(name: str, *, tenant_id: uuid.UUID, but: uuid.UUID | None = None) -> str:
    """The name without stray white space, which no other open group has, whatever its case; else Refused. Joins the
    caller's transaction, which holds the tenant."""
    wanted = " ".join(name.split())
    if not wanted or len(wanted) > LONGEST:
        raise Refused(
            "bad_name", _("Give it a name of 1 to 80 characters. Nothing was changed."), field="name"
        )
    others = Group.everywhere.filter(tenant_id=tenant_id, closed_at__isnull=True, name__iexact=wanted)
    if others.exclude(pk=but).exists():
        raise Refused(
            "name_taken", _("There is an open group of this name. Nothing was changed."), field="name"
        )
    return wanted


def open_group(*, tenant_id: uuid.UUID, group_id: uuid.UUID) -> Group:
    """The group, locked; Refused when it was closed. Joins the caller's transaction. Raises Group.DoesNotExist for an id of
    another tenant."""
    found: Group = Group.everywhere.select_for_update().get(pk=group_id, tenant_id=tenant_id)
    if found.closed_at is not None:
        raise Refused("closed", _("This group was closed. Nothing was changed."))
    return found
