"""Who is told what. The roof fills the table (``config/wiring.py``): this room knows no consumer by name."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROMPT = "prompt"
MAIL = "mail"
CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message on its way. ``attempt`` counts from one."""

    event_id: uuid.UUID
    topic: str
    key: str
    tenant_id: uuid.UUID | None
    payload: Mapping[str, Any]
    attempt: int


#: A consumer takes what one pass of the relay has for it and gives back what it could not take, with the reason.
Tell = Callable[[Sequence[Delivery]], Mapping[uuid.UUID, Exception]]


@dataclass(frozen=True, slots=True)
class Consumer:
    """``tell`` must bear repeats: a message comes again when the relay was killed before it could note the success.
    ``buried`` is called when a message of this consumer became a dead letter."""

    name: str
    tell: Tell
    buried: Callable[[Delivery, str], None] | None = None


class Unavailable(Exception):
    """The way out is closed (broker, channel layer, mail server). Says nothing about the message: no attempt is
    counted, and the rest of the pass for this consumer waits too."""


class Hopeless(Exception):
    """No repeat can help. The message becomes a dead letter at once."""


class NoRoute(Exception):
    """Nobody declared this topic."""


@dataclass(slots=True)
class _Table:
    consumers: dict[str, tuple[Consumer, ...]] = field(default_factory=dict)
    lanes: dict[str, str] = field(default_factory=dict)


_table = _Table()


def declare(topic: str, consumers: Iterable[Consumer], *, lane: str = PROMPT) -> None:
    """Set the consumers of a topic; none is fine. What is slow has a lane of its own: it never holds up the others."""
    _table.consumers[topic] = tuple(consumers)
    _table.lanes[topic] = lane


def route(topic: str) -> tuple[Consumer, ...]:
    """The consumers of a topic; raises :class:`NoRoute` for one that nobody declared."""
    try:
        return _table.consumers[topic]
    except KeyError:
        raise NoRoute(f"No consumer is declared for the topic {topic!r}.") from None


def topics() -> list[str]:
    """Every declared topic, sorted."""
    return sorted(_table.consumers)


def topics_of(lane: str) -> tuple[list[str], bool]:
    """Which topics a lane takes, sorted: (names, True) these alone; (names, False) all but these, also undeclared ones."""
    if lane == PROMPT:
        return sorted(topic for topic, its in _table.lanes.items() if its != PROMPT), False
    return sorted(topic for topic, its in _table.lanes.items() if its == lane), True
