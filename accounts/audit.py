"""The audit chain of a tenant: append and verify. Each entry holds a keyed hash over itself and the entry
before."""

import hmac
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts import chain
from accounts.canonical import MAX_DEPTH, storable
from accounts.chain import START
from accounts.models import AuditEntry, AuditHead, User
from accounts.statements import run

#: Names under which a value is a secret, as whole words between underscores, dots and dashes.
_SECRET = re.compile(
    r"(?i)(?:^|[_.\-])(?:passwords?|passwd|secrets?|tokens?|api[_\-]?keys?|private[_\-]?keys?|authorization|cookies?|credentials?)$"
)
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
    ring = keyring()
    for sequence, one in enumerate(acts, last - len(acts) + 1):
        stored, marked = storable(_without_secrets(dict(one.payload)))
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
            key=ring.current,
        )
        before = entry.hash = chain.digest(bytes(before), line(entry), ring)
        entries.append(entry)
    AuditEntry.everywhere.bulk_create(entries)
    AuditHead.objects.filter(tenant_id=tenant_id).update(hash=before)
    return entries


def verify(*, tenant_id: uuid.UUID) -> list[str]:
    """Everything wrong with a chain, in plain words; an empty list means that it is whole."""
    ring = keyring()
    problems: list[str] = []
    before, expected = START, 1
    for entry in AuditEntry.everywhere.filter(tenant_id=tenant_id).order_by("sequence").iterator():
        if entry.sequence != expected:
            problems.append(f"Entries {expected} to {entry.sequence - 1} are missing.")
        if entry.key not in ring.keys:
            problems.append(f"Entry {entry.sequence} names a key that is not among AUDIT_KEYS.")
        elif not hmac.compare_digest(bytes(entry.hash), chain.digest(before, line(entry), ring)):
            problems.append(f"Entry {entry.sequence} does not match its hash.")
        before, expected = bytes(entry.hash), entry.sequence + 1
    head = AuditHead.objects.filter(tenant_id=tenant_id).values_list("sequence", "hash").first() or (0, START)
    if head[0] != expected - 1:
        problems.append(f"The chain ends at entry {expected - 1}, its head says {head[0]}.")
    elif bytes(head[1]) != before:
        problems.append("The head of the chain does not match its last entry.")
    return problems


def line(entry: AuditEntry) -> dict[str, Any]:
    """An entry as its hash covers it."""
    found = {
        "tenant": entry.tenant_id.hex,
        "sequence": entry.sequence,
        "actor": entry.actor_id.hex if entry.actor_id else None,
        "actor_kind": entry.actor_kind,
        "channel": entry.channel,
        "act": entry.act,
        "subject": [entry.subject_kind, entry.subject_id],
        "run": entry.run_id.hex if entry.run_id else None,
        "payload": entry.payload,
        "at": chain.stamp(entry.at),
    }
    return {**found, "key": entry.key} if entry.key else found


def keyring() -> chain.Keyring:
    """The keys of this installation."""
    return chain.Keyring.of(settings.AUDIT_KEYS, str(settings.SECRET_KEY))


def masked(value: str) -> str:
    """What the log says in place of a secret: the same for the same value, of no use to who reads it."""
    ring = keyring()
    return "hidden:" + hmac.digest(ring.keys[ring.current], b"mask\0" + value.encode(), "sha256").hex()[:16]


def _without_secrets(value: Any, depth: int = 0) -> Any:
    """The same with a keyed hash in place of whatever stands under a name that secrets have (checklist 23)."""
    if isinstance(value, Mapping):
        return {
            name: masked(inner)
            if isinstance(inner, str) and inner and _SECRET.search(str(name))
            else _without_secrets(inner, depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple) and depth < MAX_DEPTH:
        return [_without_secrets(inner, depth + 1) for inner in value]
    return value
