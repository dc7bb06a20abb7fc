"""Whether as many different people as a question needs can still decide it, and if not, why. Reads only.

Signatures that still count are counted; being handed over binds nobody here, since it ends when nobody is left to hold it.
Who is away counts unless they come back too late. Decision 0031 tells why.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop as _

from accounts import rights
from accounts.models import Role, User
from approvals import rules
from approvals.clock import db_now
from approvals.models import PendingAction
from approvals.staff import group_of, role_of
from tools.reasons import Reason

GROUP_GONE = _("The rules ask the group %(group)s, which does not exist or was closed.")
NOBODY = _(
    "Nobody who may decide it holds the role %(role)s any more. Whoever submitted the task or changed what would be "
    "sent does not count."
)
NOBODY_IN_GROUP = _(
    "Nobody in the group %(group)s who may decide it holds the role %(role)s any more. Whoever submitted the task or "
    "changed what would be sent does not count."
)
TOO_FEW = _("%(needed)s people must agree, and no more than %(people)s still could.")
AWAY = _("Whoever could decide it is away until it is too late: %(names)s.")
UNREADABLE = _("The rule for how many must agree cannot be read.")
#: No rule asks for more (tools.policy).
MOST = 20


@dataclass(frozen=True, slots=True)
class Lack:
    """Too few can decide it. ``people`` have agreed or still could, in time; ``owners`` are those to whom it goes and who
    may decide it then."""

    needed: int
    people: int
    reason: Reason
    owners: tuple[User, ...] = ()

    @property
    def owners_are_enough(self) -> bool:
        """With them as many can decide it as must."""
        return self.people + len(self.owners) >= self.needed


def lack(action: PendingAction, *, now: datetime | None = None) -> Lack | None:
    """Why nobody can decide an open question, or None when enough people can."""
    free = copy.copy(action)
    free.assignee_id = None
    found = rules.deciders(free)
    signed = len(rules.entitled_signers(free, rules.signatures(free)))
    end = ends(action, now=now)
    late = [user for user in found.away if found.until[user.pk] >= end]
    people = signed + len(found.present) + len(found.away) - len(late)
    needed = rules.quorum(action)
    if people >= needed:
        return None
    reason = _reason(action, needed, people, late if people + len(late) >= needed else ())
    return Lack(needed, people, reason, found.owners)


def ends(action: PendingAction, *, now: datetime | None = None) -> datetime:
    """Until when somebody must be there: its end, or, when it has none, as long as it waits before it is escalated."""
    if action.expires_at is not None:
        return action.expires_at
    return (now or db_now()) + timedelta(seconds=settings.COUNTERSIGN.escalate_seconds)


def _reason(action: PendingAction, needed: int, people: int, late: Iterable[User]) -> Reason:
    group, role = group_of(action), role_of(action)
    names = ", ".join(str(user) for user in late)
    params: dict[str, Any] = {"needed": needed, "people": people, "group": group, "names": names}
    params["role"] = str(Role(role).label) if role in Role.values else role
    if needed > MOST:
        return Reason("unreadable", UNREADABLE, params)
    if group and rights.group_members(tenant_id=action.tenant_id, name=group) is None:
        return Reason("no_group", GROUP_GONE, params)
    if names:
        return Reason("away", AWAY, params)
    if people:
        return Reason("too_few", TOO_FEW, params)
    return Reason("nobody", NOBODY_IN_GROUP if group else NOBODY, params)
