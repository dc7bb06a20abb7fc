"""Deadlines and working time: a run that has used up its time takes no new work (S9). By the database's clock.

The deadline is an instant and waits for nobody, not even for a person who is asked. Working time (``wall_seconds``) counts
only while the run was RUNNING. What is under way when time is up ends as it ends; a person may then give more time.
"""

import uuid
from decimal import Decimal

from django.db import connection, transaction

from accounts.statements import statement
from runs import budget, sentences
from runs.budget import Shortage
from runs.engine import reserve
from runs.engine.each import each
from runs.engine.record import settle_down
from runs.engine.take_over import take_over
from runs.engine.workspace import Locked, locked_one


def stop_overdue(*, limit: int = 200) -> int:
    """Opens a takeover for every run whose time is up; how many. One that fails does not stop the others."""
    with connection.cursor() as found:
        found.execute(statement("runs", "overdue_runs"), {"limit": limit})
        due = [row[0] for row in found.fetchall()]
    failing = "run %s is over its time and could not be stopped; it is tried again"
    return each(due, lambda run_id: stop(run_id=run_id), failing=failing)


def stop(*, run_id: uuid.UUID) -> bool:
    """One run; False when it is not late after all, or held already. Owns its transaction."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        if run is None or not run.takes_work or not stop_if_late(run):
            return False
        settle_down(workspace)
    return True


def stop_if_late(run: Locked) -> bool:
    """Whether the run's time is up; then it opens the takeover. Joins."""
    if run.deadline is not None and run.deadline <= run.at:
        take_over(run, "deadline", sentences.DEADLINE(), shortage=_late(run))
        return True
    most = run.budget.get("wall_seconds")
    if most is None or run.wall_seconds < Decimal(str(most)):
        return False
    found = Shortage("wall_seconds", run.wall_seconds, budget.NOTHING, Decimal(str(most)))
    reserve.take_over_for(run, found)
    return True


def _late(run: Locked) -> Shortage:
    """By how many seconds; so the page can offer more of it."""
    late = (run.at - run.deadline).total_seconds() if run.deadline else 0.0
    return Shortage("deadline", Decimal(int(late)), budget.NOTHING, budget.NOTHING)
