"""How far things are: the numbers that live pages and their sockets compare."""

import time
from datetime import timedelta
from typing import Any

from django.db.models import BigIntegerField, Count, Exists, Func, Max, OuterRef, Q, Sum, TextField
from django.db.models.functions import Cast, Concat, Now

from accounts.models import Membership
from approvals.models import FollowUp, PendingAction
from runs.models import Run
from runs.states import RUN_TERMINAL

#: A run that commits a little later than another may carry the earlier instant; pages look back by this much.
LOOK_BACK = timedelta(seconds=5)


def tasks_seq() -> int:
    """Microseconds since 1970 of the newest event of any run of the tenant; 0 without one.

    Live runs are few and are looked at; of ended ones the newest end counts. So the instant of the last event needs no
    index, which every commit of every step would have to write.
    """
    live = Run.objects.exclude(status__in=RUN_TERMINAL).aggregate(newest=Max("last_event_at"))["newest"]
    ended = Run.objects.filter(finished_at__isnull=False).aggregate(newest=Max("finished_at"))["newest"]
    newest = max((at for at in (live, ended) if at is not None), default=None)
    return int(newest.timestamp() * 1_000_000) if newest else 0


def tasks_drawn() -> int:
    """The number that a list says it has drawn, read before its rows."""
    return max(0, tasks_seq() - int(LOOK_BACK.total_seconds() * 1_000_000))


def micros() -> int:
    """Microseconds since 1970 by this process: only to tell one look from the next."""
    return time.time_ns() // 1000


#: In whose hands each question is, as a number that changes with it.
_HANDS = Func(
    Concat(*(Cast(name, TextField()) for name in ("id", "claimed_by_id", "assignee_id", "escalated_at"))),
    function="hashtext",
    output_field=BigIntegerField(),
)


def inbox_look(membership: Membership) -> tuple[Any, ...]:
    """What of the tenant's questions a list shows, as one comparable value; one query."""
    set_aside = FollowUp.objects.filter(action_id=OuterRef("pk"), user_id=membership.user_id, at__gt=Now())
    rows = PendingAction.objects.aggregate(
        opened=Max("opened_at"),
        decided=Max("decided_at"),
        claimed=Max("claimed_until"),
        open=Count("id", filter=Q(status="OPEN")),
        hands=Sum(_HANDS, filter=Q(status="OPEN")),
        aside=Count("id", filter=Q(status="OPEN") & Q(Exists(set_aside))),
    )
    return tuple(rows.values())
