"""The history of a run: the only writer of Event. Joins a transaction that holds the run's lock."""

import hashlib
import hmac
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from django.db import connection
from django.db.models import F, QuerySet

from accounts.statements import statement
from runs.models import Event, Run

START = bytes(32)
#: The clock of the database may have been set back between two events of a run, by less than this.
SLACK = timedelta(days=1)
PAGE = 1000


@dataclass(slots=True)
class Line:
    """One line to append. ``payload`` holds text, whole numbers, booleans, lists and objects only."""

    type: str
    step_id: uuid.UUID | None = None
    actor: str = "engine"
    epoch: int = 0
    fence: int = 0
    input_digest: str = ""
    artifacts: Sequence[str] = ()
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Head:
    """Where a run's history ends."""

    tenant_id: uuid.UUID
    run_id: uuid.UUID
    sequence: int
    hash: bytes


def link(head: Head, line: Line, at: datetime) -> dict[str, Any]:
    """The next row of the chain, for the statement ``insert_events``; moves the head on."""
    head.sequence += 1
    digest = payload_digest(line.payload).hex()
    head.hash = _hash(head.hash, head.run_id, head.sequence, line, at, digest)
    return {
        "tenant": head.tenant_id,
        "run": head.run_id,
        "sequence": head.sequence,
        "step": line.step_id,
        "type": line.type,
        "actor": line.actor,
        "epoch": line.epoch,
        "fence": line.fence,
        "input_digest": line.input_digest,
        "artifacts": list(line.artifacts),
        "payload": line.payload,
        "at": at,
        "hash": head.hash.hex(),
    }


def of_run(run_id: uuid.UUID, *, everywhere: bool = False) -> QuerySet[Event]:
    """The events of a run, read from the months in which it lived and from no others."""
    lived = Run.everywhere.filter(pk=run_id)
    events = Event.everywhere if everywhere else Event.objects
    found: QuerySet[Event] = events.filter(
        run_id=run_id,
        at__gte=lived.annotate(first=F("created_at") - SLACK).values("first")[:1],
        at__lte=lived.annotate(last=F("last_event_at") + SLACK).values("last")[:1],
    )
    return found


def verify(run_id: uuid.UUID) -> list[str]:
    """Everything wrong with a run's history, in plain words; empty when it is gapless and whole. A payload that retention
    took away is stood for by its digest."""
    run = Run.everywhere.get(pk=run_id)
    problems: list[str] = []
    before, expected = START, 1
    for event in of_run(run_id, everywhere=True).order_by("sequence").iterator():
        if event.sequence != expected:
            problems.append(f"Events {expected} to {event.sequence - 1} are missing.")
        if event.erased is not None and run.erased_at is None:
            problems.append(
                f"The payload of event {event.sequence} is gone although the task was not erased."
            )
        if not _fits(before, event):
            problems.append(f"Event {event.sequence} does not match its hash.")
        before, expected = bytes(event.hash), event.sequence + 1
    if run.event_seq != expected - 1:
        problems.append(f"The history ends at event {expected - 1}, the run says {run.event_seq}.")
    elif bytes(run.event_hash) != before:
        problems.append("The end of the history does not match its last event.")
    return problems


def erase(run_id: uuid.UUID) -> int:
    """Puts digests in the place of the payloads of an ended run that is marked as erased, so that its chain can still be
    checked; how many. Payloads that stand in a hash themselves (from before they could be erased) stay: without them
    their lines could not be checked. Joins a transaction that holds the run."""
    before, page, count = START, list[dict[str, Any]](), 0
    for event in of_run(run_id, everywhere=True).order_by("sequence").iterator(chunk_size=PAGE):
        digest = payload_digest(event.payload)
        if event.erased is None and _hash_of(before, event, digest.hex()) == bytes(event.hash):
            page.append({"sequence": event.sequence, "at": event.at, "digest": digest.hex()})
        before = bytes(event.hash)
        if len(page) == PAGE:
            count += _erase(run_id, page)
            page = []
    return count + (_erase(run_id, page) if page else 0)


def _erase(run_id: uuid.UUID, page: Sequence[Mapping[str, Any]]) -> int:
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"run": run_id, "events": orjson.dumps(page).decode()}
        cursor.execute(statement("runs", "erase_events"), values)
        return int(cursor.rowcount)


def payload_digest(payload: Mapping[str, Any]) -> bytes:
    """What stands for a payload in the hash of its event."""
    return hashlib.sha256(orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)).digest()


def _hash_of(before: bytes, event: Event, payload: str | Mapping[str, Any]) -> bytes:
    line = Line(
        event.type,
        event.step_id,
        event.actor,
        event.epoch,
        event.fence,
        event.input_digest,
        event.artifacts,
        event.payload,
    )
    return _hash(before, event.run_id, event.sequence, line, event.at, payload)


def _fits(before: bytes, event: Event) -> bool:
    digest = bytes(event.erased) if event.erased is not None else payload_digest(event.payload)
    known = [_hash_of(before, event, digest.hex())]
    if event.erased is None:
        # Until payloads could be erased they stood in the hash themselves.
        known.append(_hash_of(before, event, event.payload))
    return any(hmac.compare_digest(bytes(event.hash), each) for each in known)


def _hash(
    before: bytes,
    run_id: uuid.UUID,
    sequence: int,
    line: Line,
    at: datetime,
    payload: str | Mapping[str, Any],
) -> bytes:
    body = orjson.dumps(
        [
            run_id,
            sequence,
            line.step_id,
            line.type,
            line.actor,
            line.epoch,
            line.fence,
            line.input_digest,
            list(line.artifacts),
            payload,
            at.astimezone(UTC),
        ],
        option=orjson.OPT_SORT_KEYS,
    )
    return hashlib.sha256(before + body).digest()
