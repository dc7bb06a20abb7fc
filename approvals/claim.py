"""Claim a question, so that two people do not read the same one at the same time. A claim is a courtesy: it
orders the inbox and never decides who may answer.

Who wins: one statement that takes only what is free by the database's clock. Lock order: PendingAction, audit head.
"""

import uuid
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts import rights
from accounts.again import again
from accounts.models import Role
from approvals import announce, rules
from approvals.errors import Held, NotHeld
from approvals.models import PendingAction
from approvals.standing import lock_open, must_decide

LASTS: Final = timedelta(minutes=20)


@again
def claim(
    *, action_id: uuid.UUID, user_id: uuid.UUID, channel: str = "web", lasts: timedelta = LASTS
) -> PendingAction:
    """Hold an open question for this person, who may decide it; holding it already, hold it anew. Owns its transaction.

    Raises NotAllowed, Held (by somebody else), AlreadyDecided, Expired.
    """
    free = Q(claimed_by__isnull=True) | Q(claimed_by_id=user_id) | Q(claimed_until__lte=Now())
    with transaction.atomic(durable=True):
        action = lock_open(action_id)
        user = must_decide(action, user_id)
        rows = PendingAction.everywhere.filter(free, pk=action_id, status=PendingAction.Status.OPEN)
        if rows.update(claimed_by_id=user_id, claimed_until=Now() + lasts) != 1:
            raise Held(str(action.claimed_by))
        announce.handled(action, "claimed", {}, actor=user, channel=channel)
    return action


@again
def release(*, action_id: uuid.UUID, user_id: uuid.UUID, channel: str = "web") -> PendingAction:
    """Give one's claim back; an administrator ends anybody's. Owns its transaction. Raises NotHeld, AlreadyDecided,
    Expired."""
    with transaction.atomic(durable=True):
        action = lock_open(action_id)
        if action.claimed_by_id != user_id and not may_release(action, user_id):
            raise NotHeld
        rows = PendingAction.everywhere.filter(pk=action_id, claimed_by_id=action.claimed_by_id)
        rows.exclude(claimed_by__isnull=True).update(claimed_by=None, claimed_until=None)
        payload = {"of": action.claimed_by_id.hex if action.claimed_by_id else ""}
        announce.handled(action, "released", payload, actor=rules.person(user_id), channel=channel)
    return action


def may_release(action: PendingAction, user_id: uuid.UUID) -> bool:
    """Whether this person may end a claim of somebody else."""
    administers = rights.has_role(user_id=user_id, tenant_id=action.tenant_id, role=Role.ADMINISTRATOR)
    return administers and action.claimed_by_id is not None
