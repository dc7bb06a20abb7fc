"""What people are told by mail when something waits for their decision. Reading the mail decides nothing."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.access import zone_of
from accounts.letters import Letter
from accounts.models import Role, User
from accounts.rights import people_with
from accounts.said import read
from approvals import links
from approvals.models import PendingAction

kind = "action.opened"


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """Everybody who may decide the action now: holders of its role but the submitter; the submitter takes over."""
    action = _open(payload)
    if action is None:
        return []
    role = action.policy.get("role", Role.APPROVER)
    found = [
        user for user in people_with(tenant_id=action.tenant_id, role=role) if user.pk != action.submitter_id
    ]
    if action.assignee_id:
        found = [user for user in found if user.pk == action.assignee_id]
    if action.kind == PendingAction.Kind.TAKE_OVER and action.submitter.is_active:
        found.append(action.submitter)
    return found


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """The question in one sentence and the address of its page; None when it does not stand any more."""
    action = _open(payload)
    if action is None:
        return None
    facts = {
        "sentence": read(action.sentence),
        "who": action.submitter.name,
        "link": settings.PUBLIC_URL + links.action(action.pk),
        "until": "",
    }
    parts = [_lead(action) % facts, read(action.sentence)]
    if action.irreversible:
        parts.append(_("This cannot be undone."))
    if action.expires_at:
        until = timezone.localtime(action.expires_at, zone_of(user))
        facts["until"] = date_format(until, "DATETIME_FORMAT") + f" ({until.tzname()})"
        parts.append(_("Without a decision by %(until)s it is denied.") % facts)
    parts.append(_("Look at it and decide here:\n%(link)s") % facts)
    parts.append(_("Opening the page decides nothing."))
    return Letter(user.email, _subject(action) % facts, "\n\n".join(parts))


def _open(payload: Mapping[str, Any]) -> PendingAction | None:
    found: PendingAction | None = (
        PendingAction.everywhere.select_related("submitter")
        .filter(pk=uuid.UUID(str(payload["action_id"])), status=PendingAction.Status.OPEN)
        .first()
    )
    return found


def _lead(action: PendingAction) -> str:
    if action.kind == PendingAction.Kind.SETTLE:
        return _(
            "Nobody can tell whether this happened, in a task of %(who)s. A person has to find out and record it:"
        )
    if action.kind == PendingAction.Kind.TAKE_OVER:
        return _("A task of %(who)s cannot go on by itself:")
    return _("An agent asks for your decision, in a task of %(who)s:")


def _subject(action: PendingAction) -> str:
    if action.kind == PendingAction.Kind.SETTLE:
        return _("Outcome unknown: %(sentence)s")
    if action.kind == PendingAction.Kind.TAKE_OVER:
        return _("Needs a hand: %(sentence)s")
    return _("To decide: %(sentence)s")
