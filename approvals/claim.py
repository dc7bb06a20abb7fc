"""Claim a question, so that two people do not read the same one at the same time. A claim is a courtesy: it
orders the inbox and never decides who may answer.
"""

import uuid
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from approvals.models import PendingAction

LASTS: Final = timedelta(minutes=20)


def claim(*, action_id: uuid.UUID, user_id: uuid.UUID, lasts: timedelta = LASTS) -> bool:
    """Hold an open action for this person; False when somebody else holds it or it is closed. Owns its
    transaction.
    """
    free = Q(claimed_by__isnull=True) | Q(claimed_by_id=user_id) | Q(claimed_until__lte=Now())
    with transaction.atomic(durable=True):
        rows = PendingAction.everywhere.filter(free, pk=action_id, status=PendingAction.Status.OPEN)
        return rows.update(claimed_by_id=user_id, claimed_until=Now() + lasts) == 1


def release(*, action_id: uuid.UUID, user_id: uuid.UUID) -> bool:
    """Give the claim back; False when this person does not hold it. Owns its transaction."""
    with transaction.atomic(durable=True):
        rows = PendingAction.everywhere.filter(
            pk=action_id, claimed_by_id=user_id, status=PendingAction.Status.OPEN
        )
        return rows.update(claimed_by=None, claimed_until=None) == 1
