"""The inbox is a query, never a copy."""

import uuid
from typing import Final

from django.db.models import (
    Case,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Now

from approvals import reach
from approvals.models import Decision, FollowUp, PendingAction
from tools.models import Risk

TABS: Final = ("mine", "groups", "claimed", "aside", "decided")
SHOWN: Final = 200
Kind, Status = PendingAction.Kind, PendingAction.Status

_FIRST_KIND = Case(When(kind=Kind.SETTLE, then=Value(0)), default=Value(1), output_field=IntegerField())
_WORST_RISK = Case(
    When(risk=Risk.HIGH, then=Value(0)),
    When(risk=Risk.MEDIUM, then=Value(1)),
    default=Value(2),
    output_field=IntegerField(),
)


def open_for(
    *, user_id: uuid.UUID, tenant_id: uuid.UUID, tab: str = "mine", limit: int = SHOWN
) -> list[PendingAction]:
    """The actions of one tab, most urgent first; decided ones newest first. The large columns are left out.

    ``mine``: open, this person may decide it now and has not, nobody else holds the claim, and it is not set aside.
    ``groups``: open, the role and group of this person answer for it, and it is more than theirs alone: its rule names a
    group of theirs, or it was handed to somebody else, or they have signed or edited it and it waits for the others.
    ``claimed``: like ``mine``, held by somebody else. ``aside``: what this person set aside, ``aside_until`` says till when.
    ``decided``: closed ones of the tenant that this person decided, or could have.
    """
    rows = _tab(user_id, tenant_id, tab)
    if tab == "decided":
        answers = Decision.everywhere.select_related("user").order_by("at", "pk")
        rows = rows.order_by("-decided_at", "-pk").prefetch_related(Prefetch("decisions", queryset=answers))
    else:
        rows = rows.order_by(
            _FIRST_KIND, F("expires_at").asc(nulls_last=True), _WORST_RISK, "opened_at", "pk"
        )
    return list(
        rows.select_related("intent", "claimed_by", "submitter", "assignee").defer(
            "shown", "preview", "evidence"
        )[:limit]
    )


def count_for(*, user_id: uuid.UUID, tenant_id: uuid.UUID, tab: str = "mine") -> int:
    """How many there are; for ``mine`` this is the number beside Inbox."""
    return _tab(user_id, tenant_id, tab).count()


def counts(*, user_id: uuid.UUID, tenant_id: uuid.UUID) -> dict[str, int]:
    """How many there are in every tab but ``decided``, which nobody counts. The rights are read once."""
    found = reach.of(user_id=user_id, tenant_id=tenant_id)
    waiting = (tab for tab in TABS if tab != "decided")
    return {tab: _rows(found, user_id, tenant_id, tab).count() for tab in waiting}


def next_for(
    *, user_id: uuid.UUID, tenant_id: uuid.UUID, after: uuid.UUID | None = None
) -> PendingAction | None:
    """What to decide next: the most urgent open action of this person, other than the one just looked at."""
    waiting = open_for(user_id=user_id, tenant_id=tenant_id, limit=2)
    return next((action for action in waiting if action.pk != after), None)


def _tab(user_id: uuid.UUID, tenant_id: uuid.UUID, tab: str) -> QuerySet[PendingAction]:
    return _rows(reach.of(user_id=user_id, tenant_id=tenant_id), user_id, tenant_id, tab)


def _rows(
    found: reach.Reach | None, user_id: uuid.UUID, tenant_id: uuid.UUID, tab: str
) -> QuerySet[PendingAction]:
    if found is None or tab not in TABS:
        return PendingAction.everywhere.none()
    rows = reach.rows(tenant_id=tenant_id)
    signed = Exists(Decision.everywhere.filter(action_id=OuterRef("pk"), user_id=user_id))
    if tab == "decided":
        all_of_them = Q(pk__isnull=False) if found.administers else found.answers_for | found.own
        mine_or_asked = all_of_them | Q(submitter_id=user_id) | Q(signed)
        return rows.exclude(status=Status.OPEN).filter(mine_or_asked)
    rows = rows.filter(status=Status.OPEN)
    if tab == "groups":
        beyond_me = found.bound_elsewhere | found.edited | Q(signed)
        return rows.filter(found.answers_for & (found.by_group | beyond_me)).exclude(submitter_id=user_id)
    held = Q(claimed_until__gt=Now(), claimed_by__isnull=False) & ~Q(claimed_by_id=user_id)
    decidable = rows.filter(found.may_decide).exclude(signed)
    if tab == "claimed":
        return decidable.filter(held)
    later = FollowUp.everywhere.filter(action_id=OuterRef("pk"), user_id=user_id, at__gt=Now())
    if tab == "aside":
        return decidable.annotate(aside_until=Subquery(later.values("at")[:1])).filter(Exists(later))
    return decidable.exclude(held).exclude(Exists(later))
