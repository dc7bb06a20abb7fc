"""A person pauses a tool and lets it go on. While it is paused nothing is sent; what waits is kept."""

import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from tools.models import Tool


def pause(*, tool_id: uuid.UUID, by: uuid.UUID, reason: str, channel: str = "page") -> bool:
    """False when it was paused already. Owns its transaction. Raises :class:`accounts.errors.Refused` without a reason."""
    why = reason.strip()[:500]
    if not why:
        raise Refused(
            "reason", _("Say why it is paused: others will read it. Nothing was paused."), field="reason"
        )
    with transaction.atomic(durable=True):
        changed = Tool.everywhere.filter(pk=tool_id, paused_at__isnull=True).update(
            paused_at=Now(), paused_by_id=by, paused_reason=why
        )
        if changed:
            _note("tool.paused", tool_id, by, channel, why)
    return bool(changed)


def go_on(*, tool_id: uuid.UUID, by: uuid.UUID, channel: str = "page") -> bool:
    """False when it was not paused. What waited for it is claimed again by the engine's own round. Owns its transaction."""
    with transaction.atomic(durable=True):
        changed = Tool.everywhere.filter(pk=tool_id, paused_at__isnull=False).update(
            paused_at=None, paused_by=None, paused_reason="", drifted=None
        )
        if changed:
            _note("tool.resumed", tool_id, by, channel, "")
    return bool(changed)


def _note(act: str, tool_id: uuid.UUID, by: uuid.UUID, channel: str, reason: str) -> None:
    tool = Tool.everywhere.get(pk=tool_id)
    payload = {"tool": tool.name, **({"reason": reason} if reason else {})}
    audit.append(
        tenant_id=tool.tenant_id,
        act=act,
        subject=("tool", tool.pk.hex),
        payload=payload,
        actor=by,
        channel=channel,
    )
