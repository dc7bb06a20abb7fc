"""Intents of many steps at once: the same arrows and guards as in :mod:`tools.intents`, one statement for all of them.

Every function JOINS the caller's transaction and takes a cursor of it, which may be in a pipeline: no answer needs to be
read, because a statement that finds fewer rows than asked for fails, and the transaction with it. Who gets such an error
does them one by one with :mod:`tools.intents`.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg

from accounts import arrows
from accounts.statements import statement
from tools.models import Intent

Cursor = psycopg.Cursor[Any]


@dataclass(frozen=True, slots=True)
class Authorised:
    """A locked intent that the gate itself authorised."""

    id: uuid.UUID
    key: str
    contract_id: uuid.UUID
    arguments: Mapping[str, Any]
    request_digest: str


def lock_authorised(db: Cursor, intents: Collection[uuid.UUID]) -> Cursor:
    """Asks for those of the intents that may be sent without a grant, and locks them, in id order; see
    :func:`authorised`."""
    found = {"intents": list(intents), "sources": arrows.sources(Intent, "dispatch")}
    return db.execute(statement("tools", "lock_authorised"), found)


def authorised(asked: Cursor) -> dict[uuid.UUID, Authorised]:
    """The answer to :func:`lock_authorised`."""
    return {
        row[0]: Authorised(row[0], row[1], row[2], orjson.loads(row[3]), row[4]) for row in asked.fetchall()
    }


def dispatch(db: Cursor, rows: Sequence[Mapping[str, Any]]) -> None:
    """Permission to send, for locked intents. Rows: id, sender, dispatch, fence, seconds,
    compensation (what an undo would need, or None)."""
    _execute(db, "dispatch_intents", rows, sources=arrows.sources(Intent, "dispatch"), verb="dispatch")


def confirm(db: Cursor, rows: Sequence[Mapping[str, Any]]) -> None:
    """It happened, said by the senders of the current dispatches. Rows: id, dispatch, answer (storable), reference."""
    _execute(db, "confirm_intents", rows, source=Intent.Status.DISPATCHED.value, verb="confirm")


def insert(db: Cursor, intents: Sequence[Intent]) -> None:
    """New intents, as :func:`tools.intents.fresh` makes them."""
    rows = [
        {
            "id": one.pk,
            "tenant": one.tenant_id,
            "key": one.key,
            "run": one.run_id,
            "step": one.step_id,
            "tool": one.tool_id,
            "contract": one.contract_id,
            "arguments": one.arguments,
            "target": one.target,
            "resource": one.resource,
            "digest": one.request_digest,
            "verdict": one.verdict,
            "status": str(one.status),
            "epoch": one.epoch,
        }
        for one in intents
    ]
    db.execute(statement("tools", "insert_intents"), {"intents": orjson.dumps(rows).decode()})


def _execute(db: Cursor, name: str, rows: Sequence[Mapping[str, Any]], *, verb: str, **more: Any) -> None:
    given = {"rows": orjson.dumps(rows).decode(), "ids": [row["id"] for row in rows]}
    db.execute(statement("tools", name), {**given, **more, "target": arrows.target(Intent, verb)})
