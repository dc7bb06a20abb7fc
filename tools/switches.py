"""A person stops everything of a tenant, or one run, and lifts the stop again. A tool is stopped by :mod:`tools.pauses`.

While a stop is open nothing new starts and nothing is sent; what waits is kept, and goes on by itself when it is lifted.
What is being sent at that moment arrives: :func:`sending` counts it.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.ids import new_id
from tools.models import Intent, StopSwitch, Tool

Scope = Literal["tenant", "tool", "run"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A stop that is open: what it stops, who set it, when, and why."""

    scope: Scope
    reason: str
    by: str
    at: datetime
    tool: str = ""
    title: str = ""
    run_id: uuid.UUID | None = None


def stop_tenant(*, tenant_id: uuid.UUID, by: uuid.UUID, reason: str, channel: str = "page") -> bool:
    """Stops everything; False when it is stopped already. Owns its transaction. Raises :class:`accounts.errors.Refused`
    without a reason."""
    with transaction.atomic(durable=True):
        return _stop(tenant_id, None, by, reason, channel)


def stop_run(*, tenant_id: uuid.UUID, run_id: uuid.UUID, by: uuid.UUID, reason: str, channel: str) -> bool:
    """As :func:`stop_tenant`, for one run; joins the caller's transaction, which holds the run."""
    return _stop(tenant_id, run_id, by, reason, channel)


def lift_tenant(*, tenant_id: uuid.UUID, by: uuid.UUID, channel: str = "page") -> bool:
    """False when nothing was stopped. Owns its transaction."""
    with transaction.atomic(durable=True):
        return _lift(tenant_id, None, by, channel)


def lift_run(*, tenant_id: uuid.UUID, run_id: uuid.UUID, by: uuid.UUID, channel: str) -> bool:
    """As :func:`lift_tenant`, for one run; joins the caller's transaction."""
    return _lift(tenant_id, run_id, by, channel)


def standing(*, tenant_id: uuid.UUID) -> list[Standing]:
    """Every open stop of a tenant, paused tools among them, the widest first and then the oldest."""
    open_ = StopSwitch.everywhere.filter(tenant_id=tenant_id, lifted_at__isnull=True)
    found = [
        Standing(
            "tool" if row.tool else "run" if row.run_id else "tenant",
            row.reason,
            str(row.set_by),
            row.set_at,
            row.tool.name if row.tool else "",
            row.tool.title if row.tool else "",
            row.run_id,
        )
        for row in open_.select_related("set_by", "tool").order_by("set_at", "id")
    ]
    paused = Tool.everywhere.filter(tenant_id=tenant_id, paused_at__isnull=False).select_related("paused_by")
    found += [
        Standing("tool", row.paused_reason, str(row.paused_by), row.paused_at, row.name, row.title)
        for row in paused.order_by("paused_at", "id")
        if row.paused_at
    ]
    order = {"tenant": 0, "tool": 1, "run": 2}
    return sorted(found, key=lambda one: order[one.scope])


def sending(*, tenant_id: uuid.UUID, run_id: uuid.UUID | None = None, tool: str = "") -> int:
    """How many calls were let go before and have not been heard of: a stop does not call them back."""
    rows = Intent.everywhere.filter(tenant_id=tenant_id, status=Intent.Status.DISPATCHED)
    if run_id is not None:
        rows = rows.filter(run_id=run_id)
    return (rows.filter(tool__name=tool) if tool else rows).count()


def _stop(tenant_id: uuid.UUID, run_id: uuid.UUID | None, by: uuid.UUID, reason: str, channel: str) -> bool:
    why = reason.strip()[:500]
    if not why:
        raise Refused(
            "reason", _("Say why it is stopped: others will read it. Nothing was stopped."), field="reason"
        )
    row = StopSwitch(id=new_id(), tenant_id=tenant_id, run_id=run_id, reason=why, set_by_id=by)
    # Of two people at once one sets it: the database allows one open stop of a kind.
    StopSwitch.everywhere.bulk_create([row], ignore_conflicts=True)
    if not StopSwitch.everywhere.filter(pk=row.pk).exists():
        return False
    _note("switch.set", tenant_id, run_id, by, channel, why)
    return True


def _lift(tenant_id: uuid.UUID, run_id: uuid.UUID | None, by: uuid.UUID, channel: str) -> bool:
    rows = StopSwitch.everywhere.filter(tenant_id=tenant_id, run_id=run_id, tool=None, lifted_at__isnull=True)
    if not rows.update(lifted_at=Now(), lifted_by_id=by):
        return False
    _note("switch.lifted", tenant_id, run_id, by, channel, "")
    return True


def _note(
    act: str, tenant_id: uuid.UUID, run_id: uuid.UUID | None, by: uuid.UUID, channel: str, reason: str
) -> None:
    audit.append(
        tenant_id=tenant_id,
        act=act,
        subject=("run", run_id.hex) if run_id else ("tenant", tenant_id.hex),
        payload={"reason": reason} if reason else {},
        actor=by,
        channel=channel,
        run_id=run_id,
    )
