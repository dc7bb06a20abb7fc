"""Set a question aside until a time: it leaves one person's list and nobody else's.

Lock order: PendingAction, audit head.
"""

import uuid
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.again import again
from approvals import announce, rules
from approvals.clock import db_now
from approvals.errors import BadAnswer
from approvals.models import FollowUp, PendingAction
from approvals.standing import lock_open, must_decide

LONGEST: Final = timedelta(days=90)


@again
def set_aside(
    *, action_id: uuid.UUID, user_id: uuid.UUID, until: datetime, channel: str = "web"
) -> PendingAction:
    """Set an open question aside, which this person may decide; doing so again moves the time. Owns its transaction.

    ``until`` is in the future by the database's clock, at most ``LONGEST`` ahead, and before the question runs out, which
    would deny it unseen. A claim of this person is given back. Raises NotAllowed, BadAnswer, AlreadyDecided, Expired.
    """
    with transaction.atomic(durable=True):
        action = lock_open(action_id)
        user = must_decide(action, user_id)
        now = db_now()
        if not now < until <= now + LONGEST:
            raise BadAnswer("until", _("Choose a time from now on, at most %s days ahead.") % LONGEST.days)
        if action.expires_at is not None and until >= action.expires_at:
            raise BadAnswer("until", _("It runs out before then and is denied. Choose an earlier time."))
        FollowUp.everywhere.update_or_create(
            action=action, user=user, defaults={"tenant_id": action.tenant_id, "at": until}
        )
        mine = PendingAction.everywhere.filter(pk=action_id, claimed_by_id=user_id)
        mine.update(claimed_by=None, claimed_until=None)
        announce.handled(action, "set_aside", {"until": until.isoformat()}, actor=user, channel=channel)
    return action


@again
def take_up(*, action_id: uuid.UUID, user_id: uuid.UUID, channel: str = "web") -> PendingAction:
    """Back into one's own list, at once. Owns its transaction. Nothing happens when it was not set aside. Raises
    AlreadyDecided, Expired."""
    with transaction.atomic(durable=True):
        action = lock_open(action_id)
        gone, _counts = FollowUp.everywhere.filter(action=action, user_id=user_id).delete()
        if gone:
            announce.handled(action, "taken_up", {}, actor=rules.person(user_id), channel=channel)
    return action


def until_when(action: PendingAction, user_id: uuid.UUID) -> datetime | None:
    """Until when this person has set it aside; None when they have not, or the time is over."""
    rows = FollowUp.everywhere.filter(action=action, user_id=user_id, at__gt=db_now())
    found: datetime | None = rows.values_list("at", flat=True).first()
    return found
