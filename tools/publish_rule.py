"""Whether a tenant asks for two administrators to publish a contract. Each verb owns its transaction and is audited.

One administrator switches it on. It is switched off as it works: one asks, another one makes it so.
"""

import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit, rights
from accounts.errors import Refused
from accounts.models import Role
from tools.models import PublishRule

ENOUGH = 2


def needed(*, tenant_id: uuid.UUID) -> bool:
    """A second administrator must publish."""
    return PublishRule.everywhere.filter(tenant_id=tenant_id, needs_second=True).exists()


def current(*, tenant_id: uuid.UUID) -> PublishRule | None:
    """The rule with the people behind it; None while nobody ever set it."""
    found: PublishRule | None = (
        PublishRule.everywhere.select_related("changed_by", "off_asked_by")
        .filter(tenant_id=tenant_id)
        .first()
    )
    return found


def switch_on(*, tenant_id: uuid.UUID, by: uuid.UUID) -> None:
    """From now on two must. Raises :class:`accounts.errors.Refused` when there is nobody else, because then nothing could be
    published any more."""
    with transaction.atomic(durable=True):
        _administrator(tenant_id, by)
        if len(rights.people_with(tenant_id=tenant_id, role=Role.ADMINISTRATOR)) < ENOUGH:
            raise Refused(
                "nobody_else",
                _("You are the only administrator: nobody else could publish. Nothing was changed."),
            )
        PublishRule.everywhere.get_or_create(tenant_id=tenant_id, defaults={"changed_by_id": by})
        won = PublishRule.everywhere.filter(tenant_id=tenant_id, needs_second=False).update(
            needs_second=True, changed_by_id=by, changed_at=Now()
        )
        if won:
            _note("publish_rule.on", tenant_id, by)


def ask_off(*, tenant_id: uuid.UUID, by: uuid.UUID) -> None:
    """One administrator asks to switch it off. Nothing changes until another one agrees. A wish that stands already stays.
    Raises :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        _administrator(tenant_id, by)
        won = PublishRule.everywhere.filter(
            tenant_id=tenant_id, needs_second=True, off_asked_by__isnull=True
        ).update(off_asked_by_id=by, off_asked_at=Now())
        if won:
            _note("publish_rule.off_asked", tenant_id, by)


def keep_on(*, tenant_id: uuid.UUID, by: uuid.UUID) -> None:
    """Somebody says no to switching it off, or takes the wish back. Raises :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        _administrator(tenant_id, by)
        won = PublishRule.everywhere.filter(tenant_id=tenant_id, off_asked_by__isnull=False).update(
            off_asked_by=None, off_asked_at=None
        )
        if won:
            _note("publish_rule.kept", tenant_id, by)


def switch_off(*, tenant_id: uuid.UUID, by: uuid.UUID) -> None:
    """Another administrator than the one who asked switches it off. Raises :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        _administrator(tenant_id, by)
        asked = PublishRule.everywhere.filter(tenant_id=tenant_id, off_asked_by__isnull=False)
        won = asked.exclude(off_asked_by_id=by).update(
            needs_second=False, off_asked_by=None, off_asked_at=None, changed_by_id=by, changed_at=Now()
        )
        if not won:
            raise Refused(
                "second_person",
                _("Switching it off takes two: another administrator must ask first. Nothing was changed."),
            )
        _note("publish_rule.off", tenant_id, by)


def _administrator(tenant_id: uuid.UUID, by: uuid.UUID) -> None:
    if not rights.has_role(user_id=by, tenant_id=tenant_id, role=Role.ADMINISTRATOR):
        raise Refused("not_allowed", _("Only administrators may do this. Nothing was changed."))


def _note(act: str, tenant_id: uuid.UUID, by: uuid.UUID) -> None:
    audit.append(
        tenant_id=tenant_id,
        act=act,
        subject=("tenant", tenant_id.hex),
        payload={},
        actor=by,
        channel="page",
    )
