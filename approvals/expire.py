"""Time runs out, which denies."""

import uuid
from datetime import datetime

from accounts.arrows import move
from approvals import announce
from approvals.clock import db_now
from approvals.models import Decision, PendingAction, Verdict

DECIDED_BY = "policy:timeout"


def expire(*, action_id: uuid.UUID, now: datetime | None = None) -> bool:
    """Close an open action whose time is over by the database's clock; False when it was decided first or is
    not due.

    Joins the caller's transaction, in which the engine also ends the wait (fault B54). The decision names the
    policy, never a person (fault B56).
    """
    action = PendingAction.everywhere.select_for_update(of=("self",)).filter(pk=action_id).first()
    if action is None or action.status != PendingAction.Status.OPEN or action.expires_at is None:
        return False
    moment = now or db_now()
    if moment < action.expires_at:
        return False
    decision = Decision.everywhere.create(
        tenant_id=action.tenant_id,
        action=action,
        decided_by=DECIDED_BY,
        channel="system",
        verdict=Verdict.EXPIRE,
        digest_seen=action.digest,
        generation=action.generation,
    )
    move(action, "expire", changes={"decided_at": moment})
    announce.closed(action, "expired", {"decision": decision.pk.hex}, actor_kind=DECIDED_BY, decided=True)
    return True
