"""Messages a second through one relay: taken, told to a consumer, noted as published."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence

from django.conf import settings

from bench.bench import Bench
from outbox.append import Fact, append_many
from outbox.models import Message
from outbox.relay import drain
from outbox.routes import Consumer, Delivery, declare

MESSAGES = 10_000
KEYS = 500
TOPIC = "bench.fact"


def measure(bench: Bench) -> dict[str, float]:
    """One relay, in this process, with the batch that coordinators take; the median round of those asked for."""
    paces = sorted(pace() for _ in range(bench.given.rounds))
    median = paces[len(paces) // 2]
    print(f"Relay: {median:,.0f} messages a second ({MESSAGES:,} messages of {KEYS} keys, each in order)")
    return {"relay_messages_per_second": round(median)}


def pace(messages: int = MESSAGES, keys: int = KEYS) -> float:
    """Fills the outbox and empties it through the relay; messages a second. Raises AssertionError when one is missing or
    out of order."""
    heard: dict[str, list[uuid.UUID]] = {}

    def tell(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
        for delivery in deliveries:
            heard.setdefault(delivery.key, []).append(delivery.event_id)
        return {}

    declare(TOPIC, [Consumer("bench", tell)])
    # What earlier measures left is not counted.
    drain(limit=settings.COUNTERSIGN.relay_batch)
    append_many(Fact(topic=TOPIC, key=f"bench-{number % keys}") for number in range(messages))
    started = time.monotonic()
    drain(limit=settings.COUNTERSIGN.relay_batch)
    took = time.monotonic() - started
    Message.objects.filter(topic=TOPIC).delete()
    assert sum(len(ids) for ids in heard.values()) == messages
    assert all(ids == sorted(ids) for ids in heard.values())
    return messages / took
