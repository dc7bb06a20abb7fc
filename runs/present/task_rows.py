"""Rows of the task list."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.ids import public
from accounts.said import read
from approvals import links
from approvals.models import PendingAction
from runs.agents.registry import UnknownAgent, get
from runs.models import Run, Step
from runs.present import outcomes
from runs.present.names import step_name
from runs.present.people import waited_for
from runs.selectors.runs import Live
from runs.states import RUN_TERMINAL


@dataclass(frozen=True, slots=True)
class Why:
    """What a run waits for or does: words, the instant it counts from, and where to go."""

    text: str = ""
    since: datetime | None = None
    url: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One run as a row of the list. ``total`` is 0 while nobody can know how many steps there will be."""

    id: str
    url: str
    goal: str
    agent: str
    submitter: str
    status: str
    waiting_on: str
    why: str
    why_url: str
    why_link: str
    since: datetime | None
    done: int
    total: int
    cost: str
    last_at: datetime
    selectable: bool


def rows(runs: Iterable[Run], beside: Mapping[uuid.UUID, Live]) -> list[TaskRow]:
    """The rows of one page, in the order given."""
    return [_row(run, beside.get(run.pk) or Live([], [])) for run in runs]


def agent_title(name: str) -> str:
    """The title of an agent, or its name when it is not installed here any more."""
    try:
        return _(get(name).title) if get(name).title else name
    except UnknownAgent:
        return name


def cost_of(run: Run) -> str:
    """What was spent, exactly as it was booked; nothing when nothing was."""
    cost = str(run.spent.get("cost") or "")
    return "" if cost in ("0", "0.0") else cost


def waiting_kind(actions: Sequence[PendingAction]) -> str:
    """The kind of open question that outranks the bare state, "" when no question is open."""
    kinds = [action.kind for action in actions if action.status == "OPEN"]
    return "settle" if "settle" in kinds else next(iter(kinds), "")


def _row(run: Run, live: Live) -> TaskRow:
    ended = run.status in RUN_TERMINAL
    told = why(run, live)
    return TaskRow(
        id=public("run", run.pk),
        url=reverse("runs:task_detail", args=[run.pk]),
        goal=run.goal,
        agent=agent_title(run.agent),
        submitter=str(run.submitter),
        status=run.status,
        waiting_on="" if ended else waiting_kind(live.actions),
        why=told.text,
        why_url=told.url,
        why_link=told.link,
        since=told.since,
        done=run.steps_ended,
        total=run.steps_ended if ended else (run.steps_ended + len(live.steps) if live.steps else 0),
        cost=cost_of(run),
        last_at=run.last_event_at,
        selectable=not ended and run.status != "CANCEL_REQUESTED",
    )


def why(run: Run, live: Live) -> Why:
    """One line: what it does now, what it waits for, or how it ended."""
    if run.status == "FAILED":
        return Why(read(str((run.failure or {}).get("text") or "")) or _("It could not go on."))
    if run.status == "SUCCEEDED":
        return Why(outcomes.words(run.result or {}))
    if run.status in ("CANCELLED", "CANCEL_REQUESTED"):
        return Why(_cancel_words(run, live))
    unknown = next((action for action in live.actions if action.kind == "settle"), None)
    moving = [step for step in live.steps if step.status == "RUNNING" and not step.waiting_on]
    if unknown:
        return Why(read(unknown.sentence), unknown.opened_at, action_url(unknown), _("Settle it"))
    asked = next(iter(live.actions), None)
    if moving:
        return _moving_words(moving, live.actions)
    if asked:
        return Why(waited_for(asked), asked.opened_at, action_url(asked), read(asked.sentence))
    if run.waiting_on:
        return Why(read(run.waiting_on), run.waiting_since)
    return Why(_("in line for a worker"), run.created_at) if run.status == "PENDING" else Why()


def _moving_words(moving: Sequence[Step], actions: Sequence[PendingAction]) -> Why:
    text = step_name(moving[0])
    if len(moving) > 1:
        more = len(moving) - 1
        text = ngettext("%(step)s and %(n)s more", "%(step)s and %(n)s more", more) % {
            "step": text,
            "n": more,
        }
    if not actions:
        return Why(text, moving[0].started_at)
    asked = ngettext("%(n)s question open", "%(n)s questions open", len(actions)) % {"n": len(actions)}
    return Why(text, actions[0].opened_at, action_url(actions[0]), asked)


def _cancel_words(run: Run, live: Live) -> str:
    told = _("by %(name)s") % {"name": run.cancel_requested_by} if run.cancel_requested_by else ""
    if run.cancel_reason:
        told = f"{told}: “{run.cancel_reason}”"
    moving = sum(step.status == "RUNNING" for step in live.steps)
    if run.status == "CANCEL_REQUESTED" and moving:
        ends = ngettext("%(n)s step ends first", "%(n)s steps end first", moving) % {"n": moving}
        told = f"{told} · {ends}"
    return told


def action_url(action: PendingAction) -> str:
    """Where a question is decided."""
    return links.action(action.pk)
