"""Heads of the audit chains, written regularly to a file outside the database: whoever cuts the end of a chain later cannot
cut it there. Each is sealed with the audit key, and is a line of the log as well, for a collector on another machine."""

import json
import logging
import os
import uuid
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db.models.functions import Now

from accounts import audit, chain
from accounts.models import AuditHead

log = logging.getLogger(__name__)

NAME: Final = "audit-heads.jsonl"
#: What this process has written: tenant → sequence. After a restart each head is written once more, which harms nobody.
_written: dict[uuid.UUID, int] = {}


def file() -> Path:
    """Where heads go: AUDIT_HEADS, or a file in DATA_DIR."""
    return Path(settings.AUDIT_HEADS) if settings.AUDIT_HEADS else Path(settings.DATA_DIR) / NAME


def export() -> int:
    """Append the heads that have moved since the last time, on the disk when this returns; how many."""
    ring = audit.keyring()
    rows = AuditHead.objects.annotate(now=Now()).order_by("tenant_id")
    moved = [row for row in rows if row.sequence > _written.get(row.tenant_id, 0)]
    lines = [
        chain.sealed_head(
            tenant_id=row.tenant_id, sequence=row.sequence, hash=bytes(row.hash), at=row.now, ring=ring
        )
        for row in moved
    ]
    if not lines:
        return 0
    handle = os.open(file(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
    try:
        os.write(handle, b"".join(json.dumps(line, sort_keys=True).encode() + b"\n" for line in lines))
        os.fsync(handle)
    finally:
        os.close(handle)
    for row, line in zip(moved, lines, strict=True):
        _written[row.tenant_id] = row.sequence
        log.info("audit head %s", json.dumps(line, sort_keys=True))
    return len(lines)
