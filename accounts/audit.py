"""The audit chain of a tenant: append and verify. Each entry holds a keyed hash over itself and the entry
before."""

import hashlib
import hmac
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from accounts.canonical import canonical, storable
from accounts.models import AuditEntry, AuditHead, User
from accounts.statements import run

START = bytes(32)
#: The act, and the topic, of what the machine wants administrators to know.
ALERT = "alert.raised"


def append(
    *,
    tenant_id: uuid.UUID,
    act: str,
    subject: tuple[str, str],
    payload: Mapping[str, Any] | None = None,
    actor: User | uuid.UUID | None = None,
    actor_kind: str = "person",
    channel: str = "system",
    run_id: uuid.UUID | None = None,
) -> AuditEntry:
    """Add one act to the chain. Joins the caller's transaction, which must be open, and locks the head of
    the chain: call it last.

    ``act`` is a dotted verb (``membership.disabled``); ``subject`` is (kind, id). Without an actor,
    ``actor_kind`` names the part of the system that acted (``engine``, ``policy:timeout``).
    """
    act_ = Act(act, subject, dict(payload or {}), run_id)
    actor_id = actor.pk if isinstance(actor, User) else actor
    kind = actor_kind if actor_id or actor_kind != "person" else "engine"
    return append_many([act_], tenant_id=tenant_id, actor_id=actor_id, actor_kind=kind, channel=channel)[0]


@dataclass(frozen=True, slots=True)
class Act:
    """One act to append: a dotted verb, (kind, id) of its subject, and what is kept of it."""

    act: str
    subject: tuple[str, str]
    payload: Mapping[str, Any]
    run_id: uuid.UUID | None = None


def append_many(
    acts: Sequence[Act],
    *,
    tenant_id: uuid.UUID,
    actor_id: uuid.UUID | None = None,
    actor_kind: str = "engine",
    channel: str = "system",
) -> list[AuditEntry]:
    """Add acts of one actor to the chain, in order, as :func:`append` does."""
    given = {"tenant": tenant_id, "start": START, "count": len(acts)}
    ((last, before, at),) = run("accounts", "audit_head", given)
    entries = []
    for sequence, one in enumerate(acts, last - len(acts) + 1):
        stored, marked = storable(dict(one.payload))
        if marked:
            stored["_marked"] = True
        entry = AuditEntry(
            tenant_id=tenant_id,
            sequence=sequence,
            actor_id=actor_id,
            actor_kind=actor_kind,
            channel=channel,
            act=one.act,
            subject_kind=one.subject[0],
            subject_id=str(one.subject[1]),
            run_id=one.run_id,
            payload=stored,
            at=at,
        )
        before = entry.hash = _hash(bytes(before), entry)
        entries.append(entry)
    AuditEntry.everywhere.bulk_create(entries)
    AuditHead.objects.filter(tenant_id=tenant_id).update(hash=before)
    return entries


def verify(*, tenant_id: uuid.UUID) -> list[str]:
    """Everything wrong with a chain, in plain words; an empty list means that it is whole."""
    problems: list[str] = []
    before, expected = START, 1
    for entry in AuditEntry.everywhere.filter(tenant_id=tenant_id).order_by("sequence").iterator():
        if entry.sequence != expected:
            problems.append(f"Entries {expected} to {entry.sequence - 1} are missing.")
        if not hmac.compare_digest(bytes(entry.hash), _hash(before, entry)):
            problems.append(f"Entry {entry.sequence} does not match its hash.")
        before, expected = bytes(entry.hash), entry.sequence + 1
    head = AuditHead.objects.filter(tenant_id=tenant_id).values_list("sequence", "hash").first() or (0, START)
    if head[0] != expected - 1:
        problems.append(f"The chain ends at entry {expected - 1}, its head says {head[0]}.")
    elif bytes(head[1]) != before:
        problems.append("The head of the chain does not match its last entry.")
    return problems


def _hash(before: bytes, entry: AuditEntry) -> bytes:
    at: datetime = entry.at
    body = canonical(
        {
            "tenant": entry.tenant_id.hex,
            "sequence": entry.sequence,
            "actor": entry.actor_id.hex if entry.actor_id else None,
            "actor_kind": entry.actor_kind,
            "channel": entry.channel,
            "act": entry.act,
            "subject": [entry.subject_kind, entry.subject_id],
            "run": entry.run_id.hex if entry.run_id else None,
            "payload": entry.payload,
            "at": at.astimezone(UTC).isoformat(),
        }
    )
    return hmac.digest(_key(), before + body, "sha256")


def _key() -> bytes:
    """Derived, so that a leaked chain key does not sign sessions."""
    return hashlib.sha256(b"countersign.audit.1\0" + str(settings.SECRET_KEY).encode()).digest()
