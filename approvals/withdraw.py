"""Take back questions that no longer stand."""

import uuid
from collections.abc import Iterable

from accounts.arrows import move
from approvals import announce
from approvals.clock import db_now
from approvals.models import PendingAction


def withdraw_open(*, run_id: uuid.UUID, kinds: Iterable[str], reason: str = "") -> list[PendingAction]:
    """Close every open action of these kinds of a run as WITHDRAWN and give them back, in id order.

    Joins the caller's transaction, which ends or cancels the run, so that nothing stays "required" after its
    run (fault B57). A cancelled run keeps its open settles: leave ``settle`` out of ``kinds``.
    """
    open_ones = PendingAction.everywhere.select_for_update(of=("self",)).filter(
        run_id=run_id, kind__in=[str(kind) for kind in kinds], status=PendingAction.Status.OPEN
    )
    return [_withdraw(action, reason) for action in open_ones.order_by("pk")]


def withdraw_settle(*, intent_id: uuid.UUID, reason: str = "") -> list[PendingAction]:
    """Close the open settle of an intent whose outcome became known by itself. Joins the caller's
    transaction.
    """
    return _about(intent_id, PendingAction.Kind.SETTLE, reason)


def withdraw_asked(*, intent_id: uuid.UUID, reason: str = "") -> list[PendingAction]:
    """Close the open question whether an intent may happen. Joins the caller's transaction."""
    return _about(intent_id, PendingAction.Kind.APPROVE, reason)


def _about(intent_id: uuid.UUID, kind: str, reason: str) -> list[PendingAction]:
    open_ones = PendingAction.everywhere.select_for_update(of=("self",)).filter(
        intent_id=intent_id, kind=kind, status=PendingAction.Status.OPEN
    )
    return [_withdraw(action, reason) for action in open_ones.order_by("pk")]


def _withdraw(action: PendingAction, reason: str) -> PendingAction:
    move(action, "withdraw", changes={"decided_at": db_now(), "void_reason": reason[:300]})
    announce.closed(action, "withdrawn", {"reason": reason[:300]}, actor_kind="engine")
    return action
