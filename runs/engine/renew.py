"""Renew: prolong leases that are still ours, and learn which are not and which should stop (L4).

Runs on a connection of its own, never inside another transaction: the caller's thread must not wait for anything else.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import psycopg

from accounts.failpoints import fp
from accounts.statements import statement

Lease = tuple[uuid.UUID, int]


@dataclass(slots=True)
class Standing:
    """How things stand with the steps that a worker holds. ``lost``: not its own any more · ``stopping``: its run takes no
    more work."""

    lost: set[uuid.UUID] = field(default_factory=set)
    stopping: set[uuid.UUID] = field(default_factory=set)


def renew(
    connection: psycopg.Connection[Any], *, worker_id: uuid.UUID, leases: Sequence[Lease], seconds: float
) -> set[uuid.UUID]:
    """Prolongs the leases to ``seconds`` from now and gives the steps it reached. One that is missing may only be locked by
    a commit at this moment: see :func:`standing`. The connection is in autocommit."""
    if not leases:
        return set()
    fp("renew.before")
    rows = connection.execute(
        statement("runs", "renew_leases"),
        {
            "leases": _document(leases),
            "steps": [step_id for step_id, _ in leases],
            "worker": worker_id,
            "lease": seconds,
        },
    ).fetchall()
    fp("renew.after")
    return {row[0] for row in rows}


def standing(
    connection: psycopg.Connection[Any], *, worker_id: uuid.UUID, leases: Sequence[Lease]
) -> Standing:
    """Asks, without locks, which of these steps are lost and which should stop."""
    found = Standing()
    if not leases:
        return found
    rows = connection.execute(
        statement("runs", "held_leases"), {"leases": _document(leases), "worker": worker_id}
    ).fetchall()
    for step_id, _fence, held, stopping in rows:
        if not held:
            found.lost.add(step_id)
        elif stopping:
            found.stopping.add(step_id)
    return found


def _document(leases: Sequence[Lease]) -> str:
    return orjson.dumps([{"id": step_id, "fence": fence} for step_id, fence in leases]).decode()
