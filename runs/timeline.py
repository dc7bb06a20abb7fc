"""The history of a run: the only writer of Event. Joins a transaction that holds the run's lock."""

import hashlib
import hmac
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from runs.models import Event, Run

START = bytes(32)


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
    head.hash = _hash(head.hash, head.run_id, head.sequence, line, at)
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


def verify(run_id: uuid.UUID) -> list[str]:
    """Everything wrong with a run's history, in plain words; empty when it is gapless and whole."""
    run = Run.everywhere.get(pk=run_id)
    problems: list[str] = []
    before, expected = START, 1
    for event in _events(run_id):
        if event.sequence != expected:
            problems.append(f"Events {expected} to {event.sequence - 1} are missing.")
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
        if not hmac.compare_digest(bytes(event.hash), _hash(before, run_id, event.sequence, line, event.at)):
            problems.append(f"Event {event.sequence} does not match its hash.")
        before, expected = bytes(event.hash), event.sequence + 1
    if run.event_seq != expected - 1:
        problems.append(f"The history ends at event {expected - 1}, the run says {run.event_seq}.")
    elif bytes(run.event_hash) != before:
        problems.append("The end of the history does not match its last event.")
    return problems


def _events(run_id: uuid.UUID) -> Iterable[Event]:
    return Event.everywhere.filter(run_id=run_id).order_by("sequence").iterator()


def _hash(before: bytes, run_id: uuid.UUID, sequence: int, line: Line, at: datetime) -> bytes:
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
            line.payload,
            at.astimezone(UTC),
        ],
        option=orjson.OPT_SORT_KEYS,
    )
    return hashlib.sha256(before + body).digest()
