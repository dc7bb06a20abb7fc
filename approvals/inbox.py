"""The inbox is a query, never a copy."""

import uuid
from typing import Final

from django.db.models import Case, Exists, F, IntegerField, OuterRef, Prefetch, Q, QuerySet, Value, When
from django.db.models.functions import Now

from accounts import rights
from accounts.models import Role
from approvals.models import Decision, PendingAction
from tools.models import Risk

TABS: Final = ("mine", "claimed", "decided")
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

    ``mine``: open, this person may decide, and nobody else holds the claim. ``claimed``: open, held by
    somebody else. ``decided``: closed ones of the tenant that this person decided, or could have.
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
        rows.select_related("intent", "claimed_by", "submitter").defer("shown", "preview", "evidence")[:limit]
    )


def count_for(*, user_id: uuid.UUID, tenant_id: uuid.UUID, tab: str = "mine") -> int:
    """How many there are; for ``mine`` this is the number beside Inbox."""
    return _tab(user_id, tenant_id, tab).count()


def next_for(
    *, user_id: uuid.UUID, tenant_id: uuid.UUID, after: uuid.UUID | None = None
) -> PendingAction | None:
    """What to decide next: the most urgent open action of this person, other than the one just looked at."""
    waiting = open_for(user_id=user_id, tenant_id=tenant_id, limit=2)
    return next((action for action in waiting if action.pk != after), None)


def _tab(user_id: uuid.UUID, tenant_id: uuid.UUID, tab: str) -> QuerySet[PendingAction]:
    membership = rights.membership(user_id=user_id, tenant_id=tenant_id)
    rows: QuerySet[PendingAction] = PendingAction.everywhere.filter(tenant_id=tenant_id)
    if membership is None or tab not in TABS:
        return rows.none()
    mine = Q(policy__role__in=list(membership.roles)) & ~Q(submitter_id=user_id)
    mine &= Q(assignee__isnull=True) | Q(assignee_id=user_id)
    own = Q(kind=Kind.TAKE_OVER, submitter_id=user_id)
    own |= Q(kind=Kind.ANSWER, submitter_id=user_id, policy__not_submitter=False)
    signed = Decision.everywhere.filter(action_id=OuterRef("pk"), user_id=user_id)
    if tab == "decided":
        everything = Q(pk__isnull=False) if Role.ADMINISTRATOR in membership.roles else mine | own
        return rows.exclude(status=Status.OPEN).filter(
            everything | Q(submitter_id=user_id) | Q(Exists(signed))
        )
    held = Q(claimed_until__gt=Now()) & Q(claimed_by__isnull=False) & ~Q(claimed_by_id=user_id)
    decidable = rows.filter(status=Status.OPEN).filter(mine | own).exclude(Exists(signed))
    return decidable.filter(held) if tab == "claimed" else decidable.exclude(held)
