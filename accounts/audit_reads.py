"""The audit chain as it is searched and exported. All reads; scoped to the tenant that is named.

Entries are never changed, so an export reads page after page up to the head of its beginning and holds no transaction open.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from accounts import audit, chain, ids
from accounts.canonical import canonical
from accounts.models import AuditEntry, AuditHead, User

PAGE = 100
BATCH = 1_000
COLUMNS = (
    "no",
    "time",
    "act",
    "who",
    "kind",
    "channel",
    "subject",
    "subject id",
    "task",
    "key",
    "hash",
    "payload",
)


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; everything that is given must hold. ``act`` is an act or its beginning up to a dot, ``who`` a
    person's id or a part of the system, ``tool`` the name of a tool."""

    act: str = ""
    who: str = ""
    run_id: uuid.UUID | None = None
    tool: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def all(self) -> bool:
        """Nothing is left out."""
        return self == Search()

    def rows(self, tenant_id: uuid.UUID) -> "QuerySet[AuditEntry]":
        """The entries, in no order."""
        wanted = Q(tenant_id=tenant_id)
        if self.act:
            wanted &= Q(act=self.act) | Q(act__startswith=self.act.rstrip(".") + ".")
        if self.who:
            person = _uuid(self.who)
            wanted &= Q(actor_id=person) if person else Q(actor_kind=self.who, actor__isnull=True)
        if self.run_id:
            wanted &= Q(run_id=self.run_id)
        if self.tool:
            wanted &= Q(payload__tool=self.tool)
        if self.since:
            wanted &= Q(at__gte=self.since)
        if self.until:
            wanted &= Q(at__lt=self.until)
        return AuditEntry.everywhere.filter(wanted)


def page(*, tenant_id: uuid.UUID, search: Search, before: int | None = None) -> list[AuditEntry]:
    """The newest entries, or those before a sequence number; one more than a page when there are more."""
    rows = search.rows(tenant_id).select_related("actor")
    if before is not None:
        rows = rows.filter(sequence__lt=before)
    return list(rows.order_by("-sequence")[: PAGE + 1])


def people(*, tenant_id: uuid.UUID) -> list[User]:
    """Who may be looked for, by name: everybody who ever was a member."""
    rows: QuerySet[User] = User.objects.filter(memberships__tenant_id=tenant_id)
    return list(rows.order_by("name", "id"))


def entries(*, tenant_id: uuid.UUID, search: Search, end: int) -> Iterator[AuditEntry]:
    """The oldest first, up to entry ``end``."""
    after = 0
    while True:
        rows = search.rows(tenant_id).select_related("actor").filter(sequence__gt=after, sequence__lte=end)
        batch = list(rows.order_by("sequence")[:BATCH])
        yield from batch
        if len(batch) < BATCH:
            return
        after = batch[-1].sequence


def head(*, tenant_id: uuid.UUID) -> dict[str, Any]:
    """How far the chain reaches now, sealed."""
    row = AuditHead.objects.filter(tenant_id=tenant_id).values_list("sequence", "hash", Now()).first()
    sequence, hash_, at = row or (0, chain.START, timezone.now())
    return chain.sealed_head(
        tenant_id=tenant_id, sequence=sequence, hash=bytes(hash_), at=at, ring=audit.keyring()
    )


def dump(*, tenant_id: uuid.UUID, search: Search | None = None) -> Iterator[bytes]:
    """Lines of JSON, the oldest first. A whole dump ends with the head; a choice of entries cannot be verified, and has
    none."""
    wanted = search or Search()
    reached = head(tenant_id=tenant_id)
    for entry in entries(tenant_id=tenant_id, search=wanted, end=reached["sequence"]):
        yield canonical({**audit.line(entry), "kind": "entry", "hash": bytes(entry.hash).hex()}) + b"\n"
    if wanted.all:
        yield canonical(reached) + b"\n"


def cells(entry: AuditEntry) -> list[str]:
    """A row of the table, under :data:`COLUMNS`."""
    return [
        str(entry.sequence),
        chain.stamp(entry.at),
        entry.act,
        entry.actor.email if entry.actor else "",
        entry.actor_kind,
        entry.channel,
        entry.subject_kind,
        entry.subject_id,
        ids.public("run", entry.run_id) if entry.run_id else "",
        entry.key,
        bytes(entry.hash).hex(),
        canonical(entry.payload).decode(),
    ]


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
