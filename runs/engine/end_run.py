"""The end of a run that failed or was cancelled: what can be undone is undone first. Joins a
transaction that holds the run."""

from typing import Any

from runs.engine import compensate
from runs.engine.workspace import Locked
from runs.models import Run


def end_as_failed(run: Locked, code: str, text: str) -> None:
    """The run has failed; nothing of it is live."""
    run.failure = {"code": code, "text": text[:1000]}
    run.takeover = None
    leave_waiting(run)
    if not compensate.begin(run):
        _failed(run)


def end_as_cancelled(run: Locked) -> None:
    """Nothing of a run that was asked to stop is live."""
    run.waiting_on = ""
    if not compensate.begin(run):
        _cancelled(run)


def go_on_undoing(run: Locked) -> None:
    """One undo has ended: the next, or the end of the run with a summary of what became of its effects."""
    if compensate.go_on(run):
        return
    run.waiting_on, run.takeover = "", None
    told = compensate.summary(run)
    run.event("run.compensated", payload=told)
    if Run.everywhere.filter(pk=run.id, cancel_requested_at__isnull=False).exists():
        run.result = {"undo": told["counts"]}
        _cancelled(run)
    else:
        run.failure = {**(run.failure or {"code": "failed", "text": ""}), "undo": told["counts"]}
        _failed(run)


def leave_waiting(run: Locked) -> None:
    """A run ends from RUNNING alone."""
    run.waiting_on = ""
    if run.status != "RUNNING":
        run.move("go_on")


def _failed(run: Locked) -> None:
    failure: dict[str, Any] = run.failure or {}
    run.move("fail")
    run.event("run.failed", payload={"code": failure["code"], "text": failure["text"]})


def _cancelled(run: Locked) -> None:
    run.move("cancelled")
    run.event("run.cancelled", payload={"steps": run.steps_ended})
