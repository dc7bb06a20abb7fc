"""What a person had before them when they decided: since when, and whether everything folded was opened (fault B63).

The page reports it with a POST of its own, so that a GET, which also a scanner of mails makes, says nothing of anybody.
Over REST the whole bytes are handed over, so nothing is folded there.
"""

import uuid
from typing import Final

from django.db import transaction
from django.db.models.functions import Coalesce, Now

from approvals import folding, shown
from approvals.models import PendingAction, Viewing

#: The door behind which things are folded.
PAGE: Final = "web"


def looked(*, action: PendingAction, user_id: uuid.UUID, everything: bool) -> None:
    """This person has the page before them; ``everything``: nothing on it is folded any more. The first time of each stays.
    Owns its transaction."""
    with transaction.atomic(durable=True):
        row = Viewing(tenant_id=action.tenant_id, action=action, user_id=user_id)
        Viewing.everywhere.bulk_create([row], ignore_conflicts=True)
        if everything:
            mine = Viewing.everywhere.filter(action=action, user_id=user_id)
            mine.update(payload_at=Coalesce("payload_at", Now()))


def of(action: PendingAction, user_id: uuid.UUID) -> Viewing | None:
    """What this person has looked at; None while they never had it before them."""
    found: Viewing | None = Viewing.everywhere.filter(action=action, user_id=user_id).first()
    return found


def folded(action: PendingAction) -> bool:
    """Whether the page folds anything of it."""
    return action.kind == PendingAction.Kind.APPROVE and folding.folded(shown.read(action.shown))


def unread(action: PendingAction, *, user_id: uuid.UUID, channel: str) -> bool:
    """Something is folded on the page through which this person answers, and they have not opened it."""
    if channel != PAGE or not folded(action):
        return False
    before = of(action, user_id)
    return before is None or before.payload_at is None
