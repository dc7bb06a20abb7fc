"""The relay: takes messages after their commit, tells their consumers, and only then notes them as published.

At least once: killed in between, the message comes again. Nothing here holds a transaction while it talks to the world.
"""

import json
import logging
import random
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.canonical import storable
from accounts.failpoints import fp
from accounts.statements import run
from outbox.append import Fact, append_many
from outbox.routes import CHAT, MAIL, PROMPT, Consumer, Delivery, Hopeless, Unavailable, route, topics_of

log = logging.getLogger(__name__)

#: Topic of what tells of a message that was given up.
DEAD = "message.dead"
ATTEMPTS = 12
ERROR_LENGTH = 1000
#: Seconds for which a message in delivery is hidden from other relays.
HIDDEN = {PROMPT: 10.0, MAIL: 120.0, CHAT: 120.0}
#: First and longest wait after a failure, in seconds.
WAITS = {PROMPT: (0.5, 60.0), MAIL: (5.0, 3600.0), CHAT: (5.0, 3600.0)}
#: Wait while the way out is closed, in seconds: between this and its double.
CLOSED = 1.0
#: Between two warnings about one consumer, in seconds.
QUIET = 60.0

_warned: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a message was not delivered, and to whom."""

    error: Exception
    consumer: Consumer | None


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass came to: messages taken, messages delivered and noted, and whether a way out was closed."""

    taken: int
    done: int
    closed: bool


def relay(*, limit: int, lane: str = PROMPT) -> int:
    """One pass over a lane: deliver up to ``limit`` messages; gives how many were delivered and noted."""
    return _pass(limit, lane).done


def drain(*, limit: int, lane: str = PROMPT) -> int:
    """Pass after pass until nothing is due, since messages of one key need a pass each. A closed way out ends it, so
    that a broker that hangs is asked once a round, not once a message."""
    total = 0
    while True:
        one = _pass(limit, lane)
        total += one.done
        if one.closed or not one.taken:
            return total


def _pass(limit: int, lane: str) -> Pass:
    taken = _take(limit, lane)
    if not taken:
        return Pass(0, 0, closed=False)
    failures = _tell(taken)
    fp("outbox.told")
    done = [delivery for delivery in taken if delivery.event_id not in failures]
    if failures:
        _put_back([one for one in taken if one.event_id in failures], failures, lane)
    closed = any(isinstance(failure.error, Unavailable) for failure in failures.values())
    return Pass(len(taken), _mark(done) if done else 0, closed)


def _take(limit: int, lane: str) -> list[Delivery]:
    topics, these = topics_of(lane)
    parameters = {"topics": topics, "these": these, "limit": limit, "hidden": HIDDEN[lane]}
    rows = run("outbox", "claim_messages", parameters)
    taken = [
        Delivery(event_id, topic, key, tenant_id, _object(payload), attempt)
        for event_id, topic, key, tenant_id, payload, attempt in rows
    ]
    return sorted(taken, key=lambda delivery: delivery.event_id)


def _object(payload: object) -> dict[str, object]:
    found = json.loads(payload) if isinstance(payload, str) else payload
    return found if isinstance(found, dict) else {}


def _tell(taken: Sequence[Delivery]) -> dict[uuid.UUID, Failure]:
    """Tell each consumer its part of the pass. A consumer that fails as a whole fails for its part alone."""
    failures: dict[uuid.UUID, Failure] = {}
    parts: dict[str, tuple[Consumer, list[Delivery]]] = {}
    for delivery in taken:
        try:
            consumers = route(delivery.topic)
        except Exception as error:  # noqa: BLE001 - one message without a route must not stop the pass
            failures[delivery.event_id] = Failure(error, None)
            continue
        for consumer in consumers:
            parts.setdefault(consumer.name, (consumer, []))[1].append(delivery)
    for consumer, part in parts.values():
        try:
            refused = consumer.tell(part)
        except Exception as error:  # noqa: BLE001 - whatever a consumer raises, the others are still told
            refused = dict.fromkeys((one.event_id for one in part), error)
        for event_id, reason in refused.items():
            failures.setdefault(event_id, Failure(reason, consumer))
    return failures


def _mark(done: Sequence[Delivery]) -> int:
    return len(run("outbox", "mark_published", {"ids": [delivery.event_id for delivery in done]}))


def _put_back(back: Sequence[Delivery], failures: dict[uuid.UUID, Failure], lane: str) -> None:
    columns: dict[str, list[object]] = {
        name: [] for name in ("ids", "attempts", "waits", "counted", "dead", "errors")
    }
    buried = []
    for delivery in back:
        failure = failures[delivery.event_id]
        closed = isinstance(failure.error, Unavailable)
        dead = isinstance(failure.error, Hopeless) or (not closed and delivery.attempt >= ATTEMPTS)
        text = _text(failure.error)
        columns["ids"].append(delivery.event_id)
        columns["attempts"].append(delivery.attempt)
        columns["waits"].append(CLOSED * (1 + random.random()) if closed else wait(delivery.attempt, lane))
        columns["counted"].append(not closed)
        columns["dead"].append(dead)
        columns["errors"].append(text)
        if dead:
            buried.append((delivery, failure, text))
            log.error("message %s (%s) is a dead letter: %s", delivery.event_id, delivery.topic, text)
    with transaction.atomic():
        run("outbox", "put_back", columns)
        append_many(_obituary(delivery) for delivery, _, _ in buried if _is_told_of(delivery))
    _warn(failures.values())
    for delivery, failure, text in buried:
        if failure.consumer and failure.consumer.buried:
            failure.consumer.buried(delivery, text)


def _is_told_of(dead: Delivery) -> bool:
    """Administrators hear of it. Of notes they do not: what tells of failures must not tell of its own."""
    return dead.tenant_id is not None and dead.topic != DEAD and not dead.topic.startswith("note.")


def _obituary(dead: Delivery) -> Fact:
    payload = {"message_id": dead.event_id, "topic": dead.topic}
    return Fact(topic=DEAD, key=f"dead:{dead.event_id.hex}", tenant_id=dead.tenant_id, payload=payload)


def _warn(failures: Iterable[Failure]) -> None:
    """One line a minute per consumer: a broker that is away for a night fills no disk."""
    newest = {failure.consumer.name: failure for failure in failures if failure.consumer}
    for name, failure in newest.items():
        if time.monotonic() - _warned.get(name, -QUIET) >= QUIET:
            _warned[name] = time.monotonic()
            log.warning("consumer %s did not take its messages, they stay: %s", name, _text(failure.error))


def wait(attempt: int, lane: str = PROMPT) -> float:
    """Seconds until the next attempt: doubles from attempt to attempt, with full jitter above the half."""
    first, longest = WAITS[lane]
    full: float = min(longest, first * 2 ** min(attempt - 1, 30))
    return full * (0.5 + random.random() / 2)


def _text(error: Exception) -> str:
    said = storable(f"{type(error).__name__}: {error}")[0]
    return str(said)[:ERROR_LENGTH]
