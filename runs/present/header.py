"""The head of a task page: state in words, the one thing to do now, and what is happening."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.said import read
from approvals.models import PendingAction
from runs.models import Run, Step
from runs.present import outcomes, way_back
from runs.present.names import step_name
from runs.present.people import waited_for
from runs.present.task_rows import action_url, agent_title, waiting_kind
from runs.selectors import fates
from runs.states import RUN_TERMINAL


@dataclass(frozen=True, slots=True)
class Task:
    """What the head and the frame of the page say of a run."""

    goal: str
    status: str
    waiting_on: str
    waits: str
    agent: str
    agent_version: str
    submitter: str
    created_at: datetime
    finished_at: datetime | None
    is_live: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A place to go, with the words of its button."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Banner:
    """What happened, what was not done, what to do next (``components/banner.html``)."""

    tone: str
    mark: str
    lead: str
    text: str
    url: str = ""
    action: str = ""


@dataclass(frozen=True, slots=True)
class Now:
    """What is happening: ``since`` is when it began."""

    text: str
    since: datetime | None
    note: str = ""


def task(run: Run, actions: Sequence[PendingAction]) -> Task:
    """The head of one run."""
    live = run.status not in RUN_TERMINAL
    return Task(
        goal=run.goal,
        status=run.status,
        waiting_on=waiting_kind(actions) if live else "",
        waits=_waits(run, actions) if live else "",
        agent=agent_title(run.agent),
        agent_version=run.agent_version,
        submitter=str(run.submitter),
        created_at=run.created_at,
        finished_at=run.finished_at,
        is_live=live,
    )


def stop_url(run: Run) -> str:
    """Where an administrator stops it without cancelling it; empty when it has ended."""
    return "" if run.status in RUN_TERMINAL else reverse("runs:stop_run", args=[run.pk])


def primary(run: Run, actions: Sequence[PendingAction]) -> Link | None:
    """The one thing to do now."""
    for kind, label in (
        ("settle", _("Settle the unknown outcome")),
        ("approve", _("See the open approval")),
        ("take_over", _("See why it paused")),
        ("answer", _("Answer the question")),
    ):
        found = next((action for action in actions if action.kind == kind and action.status == "OPEN"), None)
        if found and run.status not in RUN_TERMINAL:
            return Link(label, action_url(found))
    return None


def cancel_url(run: Run) -> str:
    """Where a live run is cancelled, "" when there is nothing left to cancel."""
    stops = run.status in RUN_TERMINAL or run.status in ("CANCEL_REQUESTED", "COMPENSATING")
    return "" if stops else reverse("runs:cancel", args=[run.pk])


def banner(run: Run, actions: Sequence[PendingAction], steps: Sequence[Step]) -> Banner | None:
    """The one message at the top of the page, worst first."""
    open_ = [action for action in actions if action.status == "OPEN"]
    if run.erased_at is not None:
        text = _(
            "They were kept as long as your organisation wants. What remains are the steps, their times and "
            "checksums, the approvals and the audit; the history can still be verified."
        )
        return Banner("waiting", "info", _("The contents of this task were erased."), text)
    unknown = [action for action in open_ if action.kind == "settle"]
    if unknown and run.status not in RUN_TERMINAL:
        lead = ngettext("%(n)s outcome is unknown.", "%(n)s outcomes are unknown.", len(unknown)) % {
            "n": len(unknown)
        }
        return Banner(
            "unknown", "unknown", lead, read(unknown[0].sentence), action_url(unknown[0]), _("Settle it")
        )
    taken = next((action for action in open_ if action.kind == "take_over"), None)
    if taken:
        return Banner(
            "waiting",
            "person",
            _("It cannot go on by itself."),
            read(taken.sentence),
            action_url(taken),
            _("See why"),
        )
    if run.status == "FAILED":
        text = read(str((run.failure or {}).get("text") or "")) or _("It could not go on.")
        rest = way_back.counts(run) or _("What was made before is below.")
        return Banner("failed", "failed", _("The task failed."), f"{text} {rest}")
    if run.status in ("COMPENSATING", "CANCELLED", "CANCEL_REQUESTED") and (found := _stops(run, steps)):
        return found
    refused = next((action for action in reversed(actions) if action.status in ("REJECTED", "EXPIRED")), None)
    if refused:
        return Banner("waiting", "info", *_refused(refused))
    words = outcomes.words(run.result or {}) if run.status == "SUCCEEDED" else ""
    if words:
        look = outcomes.needs_a_look(run.result or {})
        return Banner("waiting" if look else "done", "info" if look else "done", "", words)
    return None


def now(run: Run, steps: Sequence[Step], actions: Sequence[PendingAction]) -> Now | None:
    """The line "Now: …": what runs, else what it waits for. Nothing when the run has ended."""
    if run.status in RUN_TERMINAL:
        return None
    moving = [step for step in steps if step.status == "RUNNING" and not step.waiting_on]
    if moving:
        first = min(moving, key=lambda step: step.started_at or run.created_at)
        rest = len(moving) - 1
        note = ngettext("and %(n)s more step", "and %(n)s more steps", rest) % {"n": rest} if rest else ""
        if first.attempt > 1:
            note = " · ".join(filter(None, [_("attempt %(n)s") % {"n": first.attempt}, note]))
        return Now(step_name(first), first.started_at, note)
    open_ = next((action for action in actions if action.status == "OPEN"), None)
    if open_:
        return Now(
            _("Waiting for %(who)s") % {"who": waited_for(open_)}, open_.opened_at, read(open_.sentence)
        )
    if run.waiting_on:
        return Now(read(run.waiting_on), run.waiting_since)
    if any(step.status == "PENDING" for step in steps):
        return Now(_("In line for a worker"), run.last_event_at)
    return Now(_("Planning the next step"), run.last_event_at)


def _waits(run: Run, actions: Sequence[PendingAction]) -> str:
    open_ = [action for action in actions if action.status == "OPEN"]
    if open_ and run.status == "RUNNING":
        return ngettext("%(n)s step waits for a person", "%(n)s steps wait for a person", len(open_)) % {
            "n": len(open_)
        }
    if open_:
        return _("for %(who)s") % {"who": waited_for(open_[0])}
    return read(run.waiting_on)


def _stops(run: Run, steps: Sequence[Step]) -> Banner | None:
    """Of a run that was asked to stop, or whose effects are being undone."""
    if run.status == "COMPENSATING":
        return Banner("waiting", "undoing", _("Undoing."), way_back.progress(fates.of_run(run.pk)))
    if run.status == "CANCEL_REQUESTED":
        return Banner("waiting", "stopping", _("Stopping."), _stopping(steps))
    words = way_back.counts(run)
    return Banner("waiting", "undoing", _("The task was cancelled."), words) if words else None


def _stopping(steps: Sequence[Step]) -> str:
    """What it still waits for before it is cancelled; said as long as it is so (C14)."""
    moving = [step for step in steps if step.status == "RUNNING"]
    if not moving:
        return _("Nothing new starts.")
    most = max(step.timeout_seconds for step in moving)
    names = ", ".join(step_name(step) for step in moving[:3])
    return _("Nothing new starts. Still running, for at most %(most)s s each: %(names)s.") % {
        "most": most,
        "names": names,
    }


def _refused(action: PendingAction) -> tuple[str, str]:
    decision = next(iter(reversed(list(action.decisions.all()))), None)
    if action.status == "EXPIRED":
        text = _("Nobody decided in time, which denies. It was not done: %(what)s.")
        return _("The approval ran out."), text % {"what": read(action.sentence)}
    who = decision.user if decision else ""
    text = _("It was not done: %(what)s. Reason: %(why)s")
    lead = _("%(who)s rejected the proposal.") % {"who": who}
    return lead, text % {"what": read(action.sentence), "why": decision.comment if decision else ""}
