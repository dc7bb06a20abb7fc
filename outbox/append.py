"""Write a fact to tell later, in the transaction of the change that it speaks of (fault B12)."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.canonical import storable
from outbox.models import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One message to append. Facts of one ``key`` are told in the order in which they were appended."""

    topic: str
    key: str = ""
    tenant_id: uuid.UUID | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)


def append(
    *,
    topic: str,
    key: str = "",
    tenant_id: uuid.UUID | None = None,
    payload: Mapping[str, Any] | None = None,
) -> uuid.UUID:
    """Append one fact and give its event id. Joins the caller's transaction."""
    return append_many([Fact(topic=topic, key=key, tenant_id=tenant_id, payload=payload or {})])[0]


def append_many(rows: Iterable[Fact]) -> list[uuid.UUID]:
    """Append many facts in one statement and give their event ids, in order. Joins the caller's
    transaction."""
    messages = [
        Message(topic=row.topic, key=row.key, tenant_id=row.tenant_id, payload=_payload(row.payload))
        for row in rows
    ]
    if messages:
        Message.objects.bulk_create(messages)
    return [message.id for message in messages]


def _payload(payload: Mapping[str, Any]) -> Any:
    """Ids may be given as UUIDs; they are written as 32 hexadecimal digits."""
    plain = {name: value.hex if isinstance(value, uuid.UUID) else value for name, value in payload.items()}
    return storable(plain)[0]
