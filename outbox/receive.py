"""Receipts: how a consumer handles an event that may come twice as if it came once."""

import uuid

from accounts.statements import run


def once(consumer: str, event_id: uuid.UUID) -> bool:
    """True the first time this consumer sees this event. Joins the caller's transaction, in which it also does its
    work: both commit or neither. A second transaction at the same time waits for the first."""
    return bool(run("outbox", "receipt", {"consumer": consumer, "event": event_id}))
