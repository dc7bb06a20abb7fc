"""An open question, locked, for whoever handles it without deciding. Joins the caller's transaction."""

import uuid

from accounts.models import User
from approvals import rules
from approvals.clock import db_now
from approvals.errors import AlreadyDecided, Expired, NotAllowed
from approvals.models import Decision, PendingAction

Status = PendingAction.Status


def lock_open(action_id: uuid.UUID) -> PendingAction:
    """The question, if it can still be decided. Raises Expired, AlreadyDecided, PendingAction.DoesNotExist."""
    rows = PendingAction.everywhere.select_for_update(of=("self",))
    action: PendingAction = rows.get(pk=action_id)
    late = action.expires_at is not None and db_now() >= action.expires_at
    if action.status == Status.EXPIRED or (action.status == Status.OPEN and late):
        raise Expired
    if action.status != Status.OPEN:
        last = Decision.everywhere.filter(action=action).select_related("user").order_by("-at", "-pk")
        raise AlreadyDecided(action, last.first())
    return action


def must_decide(action: PendingAction, user_id: uuid.UUID) -> User:
    """The person, who may give the main answer now. Raises NotAllowed."""
    reasons = rules.refusals(action=action, user_id=user_id, verdict=rules.main_verdict(action))
    if reasons:
        raise NotAllowed(reasons)
    return User.objects.get(pk=user_id)
