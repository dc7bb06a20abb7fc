"""Sweeps over what waits for people: what nobody can decide is marked, reminders and escalations go out in time.

No task moves here; the questions are those of :mod:`approvals.chase`. Each has a transaction of its own, and one that fails
does not stop the others.
"""

import uuid
from collections.abc import Callable

from django.db import transaction

from approvals import chase
from runs.engine.each import each


def look(*, limit: int = 100) -> int:
    """Marks what nobody can decide, and takes the mark off again; how many."""
    failing = "action %s could not be looked at; it is tried again"
    return each(chase.stuck(limit=limit), _alone(chase.look), failing=failing)


def remind(*, limit: int = 100) -> int:
    """Reminds of what has waited; how many."""
    failing = "nobody could be reminded of action %s; it is tried again"
    return each(chase.due("remind_at", limit=limit), _alone(chase.remind), failing=failing)


def escalate(*, limit: int = 100) -> int:
    """Escalates what has waited for too long; how many."""
    failing = "action %s could not be escalated; it is tried again"
    return each(chase.due("escalate_at", limit=limit), _alone(chase.escalate), failing=failing)


def _alone(verb: Callable[..., bool]) -> Callable[[uuid.UUID], bool]:
    def do(action_id: uuid.UUID) -> bool:
        with transaction.atomic(durable=True):
            return verb(action_id=action_id)

    return do
