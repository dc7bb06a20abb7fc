"""Runs: one, a page of many, and how many of each kind."""

import base64
import binascii
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from approvals.models import PendingAction
from runs.agents.tool_test import ToolTest
from runs.models import Run, Step
from runs.selectors.filters import GROUPS

PAGE = 50
#: What lists never need: these columns can be large.
HEAVY = ("input", "budget", "contracts")


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of one page, newest first. ``older`` is the cursor of the next page, empty at the end."""

    rows: list[Run]
    older: str


@dataclass(slots=True)
class Live:
    """What a list says beside one run: its open questions, and its steps that have not ended."""

    actions: list[PendingAction]
    steps: list[Step]


def get(run_id: uuid.UUID) -> Run:
    """One run of the current tenant, with its people. Raises ``Run.DoesNotExist`` for any other id."""
    run: Run = Run.objects.select_related("submitter", "cancel_requested_by", "tenant").get(pk=run_id)
    return run


def every() -> QuerySet[Run]:
    """All tasks of the tenant, for filters; test calls from the workbench are no tasks."""
    return Run.objects.exclude(agent=ToolTest.name)


def page(rows: QuerySet[Run], *, cursor: str = "", size: int = PAGE) -> Page:
    """One page, newest first. Ids are time-ordered (UUIDv7), so the id alone is the cursor and rows keep
    their place while they change. A cursor that is not one of ours starts at the top."""
    rows = rows.select_related("submitter", "cancel_requested_by").defer(*HEAVY).order_by("-id")
    after = _cursor(cursor)
    if after is not None:
        rows = rows.filter(id__lt=after)
    found = list(rows[: size + 1])
    return Page(found[:size], _text(found[size - 1].pk) if len(found) > size else "")


def live(runs: Sequence[Run]) -> dict[uuid.UUID, Live]:
    """Open questions and live steps of these runs, in two queries."""
    ids = [run.pk for run in runs]
    beside = {run_id: Live([], []) for run_id in ids}
    actions = PendingAction.objects.filter(run_id__in=ids, status="OPEN").select_related(
        "assignee", "claimed_by"
    )
    for action in actions.defer("shown", "preview", "evidence", "rationale").order_by("opened_at"):
        beside[action.run_id].actions.append(action)
    steps = Step.objects.filter(run_id__in=ids, status__in=("PENDING", "RUNNING", *_STUCK)).exclude(
        kind="plan"
    )
    for step in steps.defer("input", "output").order_by("seq")[:5000]:
        beside[step.run_id].steps.append(step)
    return beside


_STUCK = ("WAITING_APPROVAL", "WAITING_EXTERNAL", "UNKNOWN")


def counts(rows: QuerySet[Run]) -> dict[str, int]:
    """How many there are under each chip, and ``all``; two queries."""
    by_status: dict[str, int] = dict(rows.order_by().values_list("status").annotate(Count("id")))
    found = {name: sum(by_status.get(status, 0) for status in group) for name, group in GROUPS.items()}
    found["all"] = sum(by_status.values())
    asked: dict[str, Any] = PendingAction.objects.filter(
        status="OPEN", run_id__in=rows.order_by().values("id")
    ).aggregate(
        person=Count("run_id", distinct=True), unknown=Count("run_id", distinct=True, filter=Q(kind="settle"))
    )
    return found | asked


def _text(value: uuid.UUID) -> str:
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


def _cursor(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))) if text else None
    except (ValueError, binascii.Error):
        return None
