"""Who was told of an action, over which channel, and whether it arrived. No decision waits for any of it."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from outbox.notify import reads


@dataclass(frozen=True, slots=True)
class Line:
    """One note. ``at`` is when it was taken or read, else when it was made."""

    name: str
    channel: str
    at: datetime
    tone: str
    mark: str
    word: str
    error: str


def told(*, tenant_id: uuid.UUID, action_id: uuid.UUID) -> dict[str, Any] | None:
    """``summary`` (words, also of failures), ``failed`` (how many), ``lines``; None when nobody was told yet."""
    rows = reads.told(tenant_id=tenant_id, about=[f"action:{action_id.hex}"])
    if not rows:
        return None
    lines = []
    for row in rows:
        state = reads.state_of(row)
        lines.append(
            Line(
                name=str(row.user) if row.user else _("Everybody's chat"),
                channel=str(row.get_channel_display()),
                at=row.read_at or row.sent_at or row.created_at,
                tone=state.tone,
                mark=state.mark,
                word=str(state.word),
                error=row.last_error,
            )
        )
    people = len({row.user_id for row in rows})
    failed = sum(1 for row in rows if row.last_error and row.status != "sent")
    summary = ngettext("%(total)d was told", "%(total)d were told", people) % {"total": people}
    if failed:
        summary += " · " + ngettext("%(total)d note failed", "%(total)d notes failed", failed) % {
            "total": failed
        }
    return {"summary": summary, "failed": failed, "lines": lines}
