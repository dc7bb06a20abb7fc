"""The state of a run, derived from what of it can still move. Joins a transaction that holds the run's lock."""

import uuid
from collections.abc import Iterable
from typing import Any

from approvals.models import PendingAction
from runs.engine.end_run import end_as_cancelled, end_as_failed, go_on_undoing
from runs.engine.workspace import Locked, live_steps
from runs.states import RUN_TERMINAL


def derive(runs: Iterable[Locked]) -> None:
    """Sets the state of runs after their steps were written.

    RUNNING while anything can move; waiting states only when nothing can; a cancelled run ends when nothing is live.
    """
    unsure = []
    for run in runs:
        if run.status in RUN_TERMINAL or run.status == "PAUSED":
            continue
        if run.moving and run.takes_work:
            _running(run)
        else:
            unsure.append(run)
    if not unsure:
        return
    live: dict[Any, list[tuple[Any, ...]]] = {run.id: [] for run in unsure}
    for row in live_steps([run.id for run in unsure]):
        live[row[0]].append(row)
    for run in unsure:
        _from_live(run, live[run.id])


def _from_live(run: Locked, live: list[tuple[Any, ...]]) -> None:
    if run.status == "CANCEL_REQUESTED":
        if not live:
            end_as_cancelled(run)
        elif all(_state(row) in ("UNKNOWN", "WAITING_EXTERNAL") for row in live):
            run.waiting_on = live[0][7] or live[0][6]
        return
    if run.status == "COMPENSATING":
        _undoing(run, live)
        return
    if run.failure is not None and not live:
        # A person ended it; what became of its last effect is settled now.
        end_as_failed(run, str(run.failure["code"]), str(run.failure["text"]))
        return
    statuses = {_state(row) for row in live}
    may_start = run.takeover is None and any(row[4] == "PENDING" and not row[5] for row in live)
    if "RUNNING" in statuses or may_start:
        _running(run)
    elif statuses & {"WAITING_APPROVAL", "UNKNOWN"} or run.takeover is not None:
        _wait(run, "WAITING_APPROVAL", "wait_for_person", live)
    elif "WAITING_EXTERNAL" in statuses:
        _wait(run, "WAITING_EXTERNAL", "wait_outside", live)


def _state(row: tuple[Any, ...]) -> str:
    """Of a live step. One whose worker fell silent, and that nobody else may take yet, only waits: it says for what."""
    status, waiting_on = str(row[4]), row[7]
    return "WAITING_EXTERNAL" if status == "RUNNING" and waiting_on else status


def _undoing(run: Locked, live: list[tuple[Any, ...]]) -> None:
    """The run stays COMPENSATING while an undo is under way or waits, and says for what."""
    if not live:
        go_on_undoing(run)
        return
    waits = next(
        (row for row in live if _state(row) in ("WAITING_APPROVAL", "WAITING_EXTERNAL", "UNKNOWN")), None
    )
    run.waiting_on = (waits[7] or waits[6] or waits[2]) if waits else ""


def asked(action_id: uuid.UUID) -> str:
    """What a person is asked, for a run that names the question which holds it."""
    rows = PendingAction.everywhere.filter(pk=action_id)
    return str(rows.values_list("sentence", flat=True).first() or "")


def _running(run: Locked) -> None:
    run.waiting_on = ""
    if run.status != "RUNNING":
        run.move("go_on")


def _wait(run: Locked, status: str, transition: str, live: list[tuple[Any, ...]]) -> None:
    if run.takeover is not None:
        run.waiting_on = run.waiting_on or asked(run.takeover)
    else:
        first = next((row for row in live if _state(row) in ("UNKNOWN", status)), None)
        run.waiting_on = (first[7] or first[6] or first[2]) if first else ""
    if run.status == "PENDING":
        run.move("go_on")
    if run.status != status:
        run.move(transition)
