"""Rows of the time axis: one for each step, its attempts side by side, waits drawn as waits."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.said import read
from approvals import links
from approvals.models import PendingAction
from runs.models import Artifact, Event, Step
from runs.present.names import step_name
from runs.present.people import waited_for

Span = dict[str, Any]

#: Ends of attempts in the history, and how the bar is drawn. Each event carries how long the attempt took.
_ENDS = {
    "step.succeeded": "done",
    "step.failed": "failed",
    "step.retried": "failed",
    "step.lost": "failed",
    "step.unknown": "unknown",
    "step.cancelled": "stopped",
}
_NOTES = {
    "step.retried": gettext_noop("failed once, tried again"),
    "step.lost": gettext_noop("worker lost, another took over"),
    "step.unknown": gettext_noop("outcome unknown"),
}


def rows(
    steps: Sequence[Step],
    events: Iterable[Event],
    actions: Iterable[PendingAction],
    late: Iterable[Artifact],
    *,
    now: datetime,
) -> list[Mapping[str, Any]]:
    """Rows for the tag ``timeline`` (its shape is described there). ``late`` are results in quarantine."""
    told: dict[uuid.UUID | None, list[Event]] = defaultdict(list)
    for event in events:
        told[event.step_id].append(event)
    asked: dict[uuid.UUID | None, list[PendingAction]] = defaultdict(list)
    for action in actions:
        asked[action.step_id].append(action)
    too_late: dict[uuid.UUID | None, list[Artifact]] = defaultdict(list)
    for file in late:
        too_late[file.step_id].append(file)
    return [_row(step, told[step.pk], asked[step.pk], too_late[step.pk], now) for step in steps]


def _row(
    step: Step, events: list[Event], actions: list[PendingAction], late: list[Artifact], now: datetime
) -> Mapping[str, Any]:
    spans, notes = _attempts(step, events)
    spans += [_wait(action) for action in actions]
    if getattr(step, "not_read", None):
        notes.append(_("could not be read"))
    if step.status == "WAITING_EXTERNAL":
        since = max(
            (span["end"] for span in spans if span["end"]), default=step.started_at or step.created_at
        )
        spans.append({"kind": "wait", "start": since, "end": None, "label": read(step.waiting_on)})
    for file in late:
        spans.append(
            {
                "kind": "late",
                "start": file.created_at - timedelta(seconds=1),
                "end": file.created_at,
                "label": "",
            }
        )
    open_ = next((action for action in actions if action.status == "OPEN"), None)
    return {
        "name": step_name(step),
        "url": _url(step, open_),
        "status": step.status,
        "took": _took(step, actions, now),
        "label": _label(step, notes),
        "note": ", ".join(dict.fromkeys(notes)),
        "on": open_ is not None,
        "spans": sorted(spans, key=lambda span: span["start"]),
    }


def _attempts(step: Step, events: list[Event]) -> tuple[list[Span], list[str]]:
    """Bars of the attempts that have ended, from the history; and the one that runs."""
    spans: list[Span] = []
    notes: list[str] = []
    last: datetime | None = None
    for event in events:
        kind = _ENDS.get(event.type)
        if kind is None:
            continue
        length = timedelta(milliseconds=int(event.payload.get("ms") or 0))
        if not length and step.started_at is None:
            continue  # rejected or cancelled before anybody tried it: there is no attempt to draw
        start = event.at - length if length else (step.started_at or event.at)
        start = max(start, last) if last else start
        spans.append({"kind": kind, "start": min(start, event.at), "end": event.at, "label": ""})
        last = event.at
        if event.type in _NOTES:
            notes.append(_(_NOTES[event.type]))
    if step.status == "RUNNING":
        start = step.started_at or step.created_at
        spans.append(
            {"kind": "running", "start": max(start, last) if last else start, "end": None, "label": ""}
        )
    elif not spans and step.started_at and step.finished_at:
        kind = {"SUCCEEDED": "done", "FAILED": "failed"}.get(step.status, "stopped")
        spans.append({"kind": kind, "start": step.started_at, "end": step.finished_at, "label": ""})
    return spans, notes


def _wait(action: PendingAction) -> Span:
    label = waited_for(action) if action.status == "OPEN" else ""
    return {"kind": "wait", "start": action.opened_at, "end": action.decided_at, "label": label}


def _took(step: Step, actions: Sequence[PendingAction], now: datetime) -> float | str | None:
    """How long it took, or has taken so far, in seconds (the drawing says it in words); a wait counts as long as it
    stays open. ``None`` before it begins."""
    open_ = next((action for action in actions if action.status == "OPEN"), None)
    start = open_.opened_at if open_ else step.started_at
    if start is None:
        return "–" if step.finished_at else None
    end = now if open_ or step.finished_at is None else step.finished_at
    seconds = max(0.0, (end - start).total_seconds())
    return _("under 1 s") if step.finished_at and seconds < 1 else seconds


def _url(step: Step, open_: PendingAction | None) -> str:
    if open_ is not None:
        return links.action(open_.pk)
    return f"#step-{step.pk.hex}"


def _label(step: Step, notes: Sequence[str]) -> str:
    words = {
        "PENDING": _("not begun"),
        "RUNNING": _("running"),
        "WAITING_APPROVAL": _("waits for a person"),
        "WAITING_EXTERNAL": _("waits"),
        "UNKNOWN": _("outcome unknown"),
        "SUCCEEDED": _("done"),
        "FAILED": _("failed"),
        "SKIPPED": _("left out"),
        "CANCELLED": _("cancelled"),
    }
    return ", ".join([f"{step_name(step)}: {words.get(step.status, step.status)}", *notes])
