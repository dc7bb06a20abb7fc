"""What the notes about actions share: the action, who may decide it now, and the parts of a letter."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.access import zone_of
from accounts.letters import Letter
from accounts.models import Absence, User
from accounts.said import read
from approvals import links, rules
from approvals.models import PendingAction

Kind, Status = PendingAction.Kind, PendingAction.Status


def find(payload: Mapping[str, Any]) -> PendingAction | None:
    """The action in whatever state."""
    rows = PendingAction.everywhere.select_related("submitter", "assignee", "delegated_by")
    found: PendingAction | None = rows.filter(pk=uuid.UUID(str(payload["action_id"]))).first()
    return found


def find_open(payload: Mapping[str, Any]) -> PendingAction | None:
    """The action while it waits."""
    found = find(payload)
    return found if found is not None and found.status == Status.OPEN else None


def path(payload: Mapping[str, Any]) -> str:
    """Its page."""
    return links.action(uuid.UUID(str(payload["action_id"])))


def deciders(action: PendingAction) -> list[User]:
    """Everybody who may decide the action now and has not: those who are here. When nobody of them is, those who are away,
    for then nobody else would hear of it; and the escalation owner once it went to them."""
    found = rules.deciders(action)
    people = list(found.present or found.away)
    return [*people, *found.owners]


def stand_ins(action: PendingAction, users: Iterable[User]) -> dict[uuid.UUID, User]:
    """Person who is away now → who stands in for them."""
    away = Absence.everywhere.select_related("stand_in").filter(
        tenant_id=action.tenant_id,
        user__in=[user.pk for user in users],
        cancelled_at__isnull=True,
        begins_at__lte=Now(),
        ends_at__gt=Now(),
        stand_in__isnull=False,
    )
    return {row.user_id: row.stand_in for row in away.order_by("created_at")}


def letter(action: PendingAction, user: User, *, subject: str, lead: str, facts: Mapping[str, Any]) -> Letter:
    """One sentence about what would happen, until when, and where to decide it. ``subject`` and ``lead`` may name
    ``%(sentence)s``, ``%(who)s`` (the submitter) and what ``facts`` has."""
    every = {"sentence": read(action.sentence), "who": action.submitter.name, **facts}
    parts = [lead % every, read(action.sentence)]
    if action.irreversible and action.kind == Kind.APPROVE:
        parts.append(_("This cannot be undone."))
    if action.status == Status.OPEN and action.expires_at:
        until = {"until": moment(action.expires_at, user)}
        parts.append(_("Without a decision by %(until)s it is denied.") % until)
    link = {"link": settings.PUBLIC_URL + links.action(action.pk)}
    if action.status == Status.OPEN:
        parts.append(_("Look at it and decide here:\n%(link)s") % link)
    else:
        parts.append(_("Look at it here:\n%(link)s") % link)
    parts.append(_("Opening the page decides nothing."))
    return Letter(user.email, subject % every, "\n\n".join(parts))


def moment(at: Any, user: User) -> str:
    """A time by the reader's clock, with its zone."""
    local = timezone.localtime(at, zone_of(user))
    return date_format(local, "DATETIME_FORMAT") + f" ({local.tzname()})"
