"""Watchdog: RUNNING runs that have fallen silent, and runs that go round without progress, are handed to a person (S13).

A step that is renewed is healthy, however long it takes; a step that waits for a free worker is not the run's fault; waiting
for a person is never stuck. Safe to repeat, to kill and to run twice at once: each run is one transaction under its lock,
in which the finding is asked again.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.statements import run as select
from runs import sentences
from runs.agents import registry
from runs.engine.alert import alert
from runs.engine.each import each
from runs.engine.record import settle_down
from runs.engine.take_over import take_over
from runs.engine.workspace import document, locked_one

BATCH = 200


def watch() -> int:
    """Looks for silence and for loops; how many runs were handed over. One that fails does not stop the others."""
    found = (
        (name, row[0])
        for name in ("silent_runs", "looping_runs")
        for row in select("runs", name, {**_limits(), "only": None, "limit": BATCH})
    )
    return each(
        found, lambda one: _hand_over(*one), failing="run %s could not be handed over; it is tried again"
    )


def _limits() -> Mapping[str, Any]:
    usual = settings.COUNTERSIGN.loop_steps
    agents = [{"agent": agent.name, "most": max(usual, agent.may_repeat)} for agent in registry.all_agents()]
    return {"silent": settings.COUNTERSIGN.silent_seconds, "limits": document(agents)}


def _hand_over(name: str, run_id: uuid.UUID) -> bool:
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        if run is None or not run.takes_work:
            return False
        found = select("runs", name, {**_limits(), "only": run_id, "limit": 1})
        if not found:
            return False
        code, text, step = _finding(name, found[0])
        key = f"{code}/{run.version}"
        take_over(run, code, text, step_id=step)
        settle_down(workspace)
        alert(tenant_id=run.tenant_id, run_id=run_id, code=code, text=text, key=key)
    return True


def _finding(name: str, row: tuple[Any, ...]) -> tuple[str, str, uuid.UUID | None]:
    if name == "silent_runs":
        seconds = settings.COUNTERSIGN.silent_seconds
        return "silent", sentences.SILENT(seconds=f"{seconds:g}"), None
    _run_id, step, tool, times = row
    return "loop", sentences.LOOP(tool=tool, times=times), step
