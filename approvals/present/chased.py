"""What the page of an open question says of time and people: that nobody can decide it, reminders, escalation."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import rights
from accounts.models import Role, Tenant
from approvals import chase, enough
from approvals.models import PendingAction
from approvals.staff import group_of, role_of


@dataclass(frozen=True, slots=True)
class Stuck:
    """Nobody can decide it: why, to whom it has gone, what to do. ``url`` leads administrators to the people."""

    why: str
    gone_to: str
    advice: str
    url: str


@dataclass(frozen=True, slots=True)
class Chased:
    """``reminded`` in words, empty before the first time; the times that are still to come."""

    stuck: Stuck | None
    reminded: str
    reminded_at: datetime | None
    remind_at: datetime | None
    escalated_at: datetime | None
    escalate_at: datetime | None


def chased(action: PendingAction, user_id: uuid.UUID) -> Chased | None:
    """For one reader; None for a question that is closed."""
    if action.status != PendingAction.Status.OPEN:
        return None
    told = ngettext("Reminded once", "Reminded %s times", action.reminders)
    return Chased(
        stuck=_stuck(action, user_id),
        reminded=(told % action.reminders if "%s" in told else told) if action.reminders else "",
        reminded_at=_last_reminder(action),
        remind_at=action.remind_at,
        escalated_at=None if action.undecidable_since else action.escalated_at,
        escalate_at=action.escalate_at,
    )


def _stuck(action: PendingAction, user_id: uuid.UUID) -> Stuck | None:
    # As it is now, whatever the last sweep found.
    if (action.undecidable_since is None) is not bool(chase.stuck(only=action.pk)):
        return None
    found = enough.lack(action)
    if found is None:
        return None
    owners = rights.escalation_owners(tenant_id=action.tenant_id)
    names = ", ".join(str(one) for one in owners)
    tenant = Tenant.objects.get(pk=action.tenant_id)
    if tenant.escalation_owner_id in {one.pk for one in owners}:
        gone_to = _("It has gone to %(names)s, the escalation owner.") % {"names": names}
    else:
        gone_to = _("It has gone to the administrators: %(names)s.") % {"names": names}
    administers = rights.has_role(user_id=user_id, tenant_id=action.tenant_id, role=Role.ADMINISTRATOR)
    url = reverse("accounts:people") if administers else ""
    return Stuck(str(found.reason), gone_to, _advice(action, found, user_id), url)


def _advice(action: PendingAction, found: enough.Lack, user_id: uuid.UUID) -> str:
    if found.owners_are_enough:
        mine = user_id in {one.pk for one in found.owners}
        return _("You may decide it now, with that right alone.") if mine else ""
    role, group = role_of(action), group_of(action)
    words = {"role": Role(role).label if role in Role.values else role, "group": group}
    words["more"] = str(max(1, found.needed - found.people - len(found.owners)))
    if found.reason.code in ("no_group", "unreadable"):
        return _("The policy of the tool has to be changed.")
    if group:
        text = _(
            "That is not enough: %(more)s more who hold the role %(role)s must come into the group %(group)s."
        )
        return text % words
    return _("That is not enough: %(more)s more must be given the role %(role)s.") % words


def _last_reminder(action: PendingAction) -> datetime | None:
    """When people were last reminded, from the time of the next one or the first."""
    after = action.policy.get(chase.REMIND)
    if not action.reminders or not isinstance(after, int):
        return None
    last = timedelta(seconds=after * 2 ** (action.reminders - 1))
    return action.remind_at - last if action.remind_at else action.opened_at + last
