"""What endpoints can be told. The rooms above know what the facts mean; the roof registers their words here."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.functional import Promise

from accounts import ids

#: Sent by the test button alone.
TEST = "webhook.test"


@dataclass(frozen=True, slots=True)
class EventType:
    """A public kind of event. ``words`` say when it is sent, for the person who subscribes."""

    name: str
    words: "str | Promise"


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it is told: ``type`` is the name of an :class:`EventType`, ``data`` plain JSON."""

    type: str
    data: Mapping[str, Any]


#: Makes the event of a message, from its topic and payload; None: this one is told to nobody outside.
Translate = Callable[[str, Mapping[str, Any]], Event | None]

_types: dict[str, EventType] = {}
_translate: dict[str, Translate] = {}


def register(types: Iterable[EventType], topics: Iterable[str], translate: Translate) -> None:
    """Add event types, and the translation of these topics."""
    _types.update({one.name: one for one in types})
    _translate.update(dict.fromkeys(topics, translate))


def known() -> list[EventType]:
    """Every event type, in the order in which they were registered."""
    return list(_types.values())


def topics() -> list[str]:
    """The topics that are translated, sorted."""
    return sorted(_translate)


def translated(topic: str, payload: Mapping[str, Any]) -> Event | None:
    """The event of a message, or None. Raises KeyError for an event type that nobody registered."""
    found = _translate[topic](topic, payload) if topic in _translate else None
    if found is not None:
        _types[found.type]
    return found


def document(event_id: uuid.UUID, type: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a delivery. The time is that of the message (it stands in its UUIDv7), so a repeat has the same."""
    at = datetime.fromtimestamp((event_id.int >> 80) / 1000, UTC)
    return {
        "type": type,
        "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "data": dict(data),
    }


def public_id(event_id: uuid.UUID) -> str:
    """The ``webhook-id`` of an event: by it a receiver drops repeats."""
    return ids.public("message", event_id)
