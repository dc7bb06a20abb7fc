"""What of the tasks is shown: filters that live in the URL."""

import contextlib
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from accounts.ids import BadId, parse
from approvals.models import PendingAction
from runs.agents.registry import all_agents
from runs.agents.tool_test import ToolTest
from runs.models import Run

#: The chips: name → states. ``person`` and ``unknown`` are questions to people and cut across the states.
GROUPS: dict[str, tuple[str, ...]] = {
    "running": ("PENDING", "RUNNING", "COMPENSATING", "CANCEL_REQUESTED"),
    "waiting": ("WAITING_APPROVAL", "WAITING_EXTERNAL", "PAUSED"),
    "done": ("SUCCEEDED",),
    "failed": ("FAILED",),
    "cancelled": ("CANCELLED",),
}
STATES = ("person", "unknown", *GROUPS)


def open_questions(kind: str = "") -> QuerySet[Any, Any]:
    """The ids of runs that have an open question to a person, of one kind or of any."""
    rows = PendingAction.objects.filter(status="OPEN")
    return (rows.filter(kind=kind) if kind else rows).values("run_id")


class TaskFilter(django_filters.FilterSet):  # type: ignore[misc]  # the library ships no types
    """Filters of the task list. Unknown values are ignored: an old link still shows a list."""

    state = django_filters.ChoiceFilter(choices=[(name, name) for name in STATES], method="by_state")
    q = django_filters.CharFilter(method="by_text", label=_("Search"))
    agent = django_filters.ChoiceFilter(
        label=_("Agent"), choices=lambda: [(a.name, a.title) for a in all_agents() if not is_drill(a.name)]
    )
    mine = django_filters.BooleanFilter(method="by_me", label=_("Only mine"), widget=forms.CheckboxInput)
    since = django_filters.DateFilter(
        field_name="created_at",
        lookup_expr="date__gte",
        label=_("Submitted since"),
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    until = django_filters.DateFilter(
        field_name="created_at",
        lookup_expr="date__lte",
        label=_("Submitted until"),
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    class Meta:
        model = Run
        fields: tuple[str, ...] = ()

    def by_state(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        if value == "person":
            return rows.filter(pk__in=open_questions())
        if value == "unknown":
            return rows.filter(pk__in=open_questions("settle"))
        return rows.filter(status__in=GROUPS[value])

    def by_text(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        text = value.replace("\x00", "").strip()
        if not text:
            return rows
        wanted = (
            Q(goal__icontains=text) | Q(submitter__name__icontains=text) | Q(submitter__email__iexact=text)
        )
        with contextlib.suppress(BadId):
            wanted |= Q(pk=parse("run", text))
        return rows.filter(wanted)

    def by_me(self, rows: QuerySet[Run], name: str, value: Any) -> QuerySet[Run]:
        return rows.filter(submitter=self.request.user) if value and self.request else rows


def is_drill(agent: str) -> bool:
    """Agents of benches, drills and test calls are not offered to people."""
    return agent.startswith("drill-") or agent == ToolTest.name
