"""What a person may do with a question beside deciding it: hold it, hand it over, set it aside."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from accounts import ids
from accounts.models import User
from approvals import claim as claims
from approvals import delegate as handing
from approvals import links, rules
from approvals.clock import db_now
from approvals.models import PendingAction
from approvals.set_aside import LONGEST, until_when

Status = PendingAction.Status


@dataclass(frozen=True, slots=True)
class Colleague:
    """Somebody to whom it can be handed; ``note`` says until when they are away."""

    id: str
    name: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Handling:
    """Addresses are empty where this person may not. ``people`` is empty when nobody else could decide it. ``latest``
    bounds the time to which it can be set aside, ``aside_until`` is the one that was chosen."""

    claim_url: str = ""
    release_url: str = ""
    holder: str = ""
    delegate_url: str = ""
    people: tuple[Colleague, ...] = ()
    undelegate_url: str = ""
    handed: str = ""
    handed_note: str = ""
    aside_url: str = ""
    take_up_url: str = ""
    aside_until: datetime | None = None
    earliest: datetime | None = None
    latest: datetime | None = None

    @property
    def any(self) -> bool:
        """Whether there is anything to choose."""
        return any((self.claim_url, self.release_url, self.delegate_url, self.undelegate_url, self.aside_url))


def handling(action: PendingAction, user_id: uuid.UUID) -> Handling:
    """The ways of one person with one question; nothing when it is closed."""
    if action.status != Status.OPEN:
        return Handling()
    now = db_now()
    verdict = rules.main_verdict(action)
    may = not rules.refusals(action=action, user_id=user_id, verdict=verdict)
    may = may and not any(one.user_id == user_id for one in rules.given(action))
    claimed = action.claimed_until is not None and action.claimed_until > now
    holder = action.claimed_by if claimed else None
    ends = holder is not None and (holder.pk == user_id or claims.may_release(action, user_id))
    latest = now + LONGEST
    if action.expires_at is not None:
        latest = min(latest, action.expires_at)
    return Handling(
        claim_url=_url("claim", action, may and holder is None),
        release_url=_url("release", action, ends),
        holder=str(holder) if holder and holder.pk != user_id else "",
        delegate_url=_url("delegate", action, may),
        people=_colleagues(action, user_id) if may else (),
        undelegate_url=_url("undelegate", action, handing.may_undelegate(action, user_id)),
        handed=_handed(action, user_id),
        handed_note=action.handed_note if action.assignee_id else "",
        aside_url=_url("set_aside", action, may),
        take_up_url=_url("take_up", action, may),
        aside_until=until_when(action, user_id) if may else None,
        earliest=now,
        latest=latest,
    )


def _url(verb: str, action: PendingAction, allowed: bool) -> str:
    return links.verb(verb, action.pk) if allowed else ""


def _colleagues(action: PendingAction, user_id: uuid.UUID) -> tuple[Colleague, ...]:
    """Those who are here first."""
    found = rules.deciders(action, whoever_has_it=True)
    others: list[Colleague] = []
    for user in (*found.present, *found.away):
        if user.pk in (user_id, action.assignee_id):
            continue
        until = found.until.get(user.pk)
        note = _("away until %s") % date_format(localtime(until), "DATETIME_FORMAT") if until else ""
        others.append(Colleague(ids.public("user", user.pk), str(user), note))
    return tuple(others)


def _handed(action: PendingAction, user_id: uuid.UUID) -> str:
    """To whom it was handed and by whom, in one sentence; empty when it was not."""
    if action.assignee_id is None or action.assignee is None:
        return ""
    by: User | None = action.delegated_by
    names = {"by": str(by) if by else _("Somebody"), "to": str(action.assignee)}
    if action.assignee_id == user_id:
        return _("%(by)s handed this to you.") % names
    if by is not None and by.pk == user_id:
        return _("You handed this to %(to)s.") % names
    return _("%(by)s handed this to %(to)s.") % names
