"""The history of a task, checked from outside: every line carries the hash of itself and of the line before.

The rule is that of `runs/timeline.py`, written a second time on purpose: SHA-256 over the hash before and a JSON list of
what the line says, keys sorted. An observer needs nothing but what the interface shows.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson


def problems(run_id: str, events: Sequence[dict[str, Any]]) -> list[str]:
    """What is wrong with the chain, in plain words; empty when it is gapless and whole."""
    found: list[str] = []
    before = bytes(32)
    for expected, event in enumerate(events, 1):
        if event["sequence"] != expected:
            found.append(f"line {expected} is missing")
            break
        before = _hash(before, run_id, event)
        if before.hex() != event["hash"]:
            found.append(f"line {expected} does not match its hash")
            break
    return found


def _hash(before: bytes, run_id: str, event: dict[str, Any]) -> bytes:
    body = [
        _uuid(run_id),
        event["sequence"],
        _uuid(event["step"]),
        *(event[name] for name in ("type", "actor", "epoch", "fence", "input_digest", "artifacts")),
        # The digest of the payload stands for it, so that a payload can be erased and the chain still be checked.
        hashlib.sha256(orjson.dumps(event["payload"], option=orjson.OPT_SORT_KEYS)).hexdigest(),
        datetime.fromisoformat(event["at"]).astimezone(UTC),
    ]
    return hashlib.sha256(before + orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).digest()


def _uuid(public: str) -> uuid.UUID | None:
    """`run_0192…` → the id behind it."""
    return uuid.UUID(public.rpartition("_")[2]) if public else None
