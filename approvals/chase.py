"""See to it that no question waits for nobody: mark what nobody can decide, remind, escalate.

Each verb here looks at one question under its lock, or leaves it when somebody holds it; whoever comes round again finds
it. A question that is closed, or has a successor, is never told of (faults B54, B60). Lock order: PendingAction, audit head.
"""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from accounts import rights
from accounts.statements import run
from approvals import announce, enough
from approvals.clock import db_now
from approvals.models import PendingAction

MOST_REMINDERS: Final = 3
REMIND, ESCALATE = "remind_after_seconds", "escalate_after_seconds"


def patience() -> dict[str, int]:
    """What the policy of a question that never expires says of time: the settings of the installation."""
    engine = settings.COUNTERSIGN
    said = {REMIND: int(engine.remind_seconds), ESCALATE: int(engine.escalate_seconds)}
    return {name: seconds for name, seconds in said.items() if seconds}


def times(
    policy: Mapping[str, Any], *, opened: datetime, ends: datetime | None = None
) -> dict[str, datetime]:
    """``remind_at`` and ``escalate_at`` of a question that opens, as far as its policy names them and they come before its
    end."""
    found = {"remind_at": _after(policy, REMIND), "escalate_at": _after(policy, ESCALATE)}
    moments = {name: opened + timedelta(seconds=after) for name, after in found.items() if after}
    return {name: at for name, at in moments.items() if ends is None or at < ends}


def stuck(*, limit: int = 100, only: uuid.UUID | None = None) -> list[uuid.UUID]:
    """Open questions whose mark may not fit any more, oldest first."""
    known = {"limit": limit, "only": only, "patience": float(settings.COUNTERSIGN.escalate_seconds)}
    return [pk for (pk,) in run("approvals", "stuck", known)]


def look(*, action_id: uuid.UUID, now: datetime | None = None) -> bool:
    """Mark a question that nobody can decide, and send it to the escalation owner; or take the mark off. False when the
    mark fits, or somebody holds the question. Joins the caller's transaction."""
    action = _open(action_id, now or db_now())
    if action is None:
        return False
    lacking, marked = enough.lack(action, now=now), action.undecidable_since is not None
    if (lacking is None) is not marked:
        return False
    if lacking is None:
        action.undecidable_since = None
        action.save(update_fields=["undecidable_since"])
        announce.decidable(action)
        return True
    moment = now or db_now()
    action.undecidable_since = action.escalated_at = moment
    action.save(update_fields=["undecidable_since", "escalated_at"])
    announce.undecidable(action, {**_owners(action), "why": lacking.reason.code, "needed": lacking.needed})
    return True


def remind(*, action_id: uuid.UUID, now: datetime | None = None) -> bool:
    """Those who may decide it hear of it once more; False when it is not due. Joins the caller's transaction."""
    moment = now or db_now()
    action = _open(action_id, moment, remind_at__lte=moment)
    if action is None:
        return False
    action.reminders += 1
    action.remind_at = _next_reminder(action, moment)
    action.save(update_fields=["reminders", "remind_at"])
    announce.reminded(action)
    return True


def escalate(*, action_id: uuid.UUID, now: datetime | None = None) -> bool:
    """The escalation owner hears that it still waits; False when it is not due. Joins the caller's transaction."""
    moment = now or db_now()
    action = _open(action_id, moment, escalate_at__lte=moment)
    if action is None:
        return False
    action.escalate_at, action.escalated_at = None, moment
    action.save(update_fields=["escalate_at", "escalated_at"])
    announce.escalated(action, _owners(action))
    return True


def due(column: str, *, limit: int = 100) -> list[uuid.UUID]:
    """Open questions whose ``remind_at`` or ``escalate_at`` has come by the database's clock, longest due first."""
    rows = PendingAction.everywhere.filter(status=PendingAction.Status.OPEN, **{f"{column}__lte": Now()})
    return list(rows.order_by(column).values_list("pk", flat=True)[:limit])


def _open(action_id: uuid.UUID, now: datetime, **when: Any) -> PendingAction | None:
    """The question under its lock; None when it is closed, superseded, past its end, or held by somebody."""
    rows = PendingAction.everywhere.select_for_update(of=("self",), skip_locked=True)
    lives = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    found: PendingAction | None = rows.filter(
        lives, pk=action_id, status=PendingAction.Status.OPEN, successor__isnull=True, **when
    ).first()
    return found


def _next_reminder(action: PendingAction, now: datetime) -> datetime | None:
    """At once, twice and four times the first time after the question opened; none after its end."""
    after = _after(action.policy, REMIND)
    if not after or action.reminders >= MOST_REMINDERS:
        return None
    following = now + timedelta(seconds=after * 2 ** (action.reminders - 1))
    return following if action.expires_at is None or following < action.expires_at else None


def _after(policy: Mapping[str, Any], name: str) -> int:
    value = policy.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _owners(action: PendingAction) -> dict[str, list[str]]:
    return {"to": [user.pk.hex for user in rights.escalation_owners(tenant_id=action.tenant_id)]}
