"""Checkpoints: what a run needs to go on, written while it runs and never changed (S5).

Saving joins a transaction that holds the run's lock. What is stored is the value at the call: the summary leaves this
process as bytes before :func:`save` returns (B19). Contexts are rebuilt from the newest checkpoint whose digest still
matches (`runs/sql/run_contexts.sql`); one that does not is passed over and told in the history.
"""

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson
import psycopg

from accounts.statements import statement
from runs.agents.registry import UnknownAgent, get
from runs.states import CHECKPOINT_EVERY

if TYPE_CHECKING:
    from runs.engine.workspace import Locked


@functools.cache
def versions(agent: str, version: str) -> dict[str, str]:
    """Agent, model and prompt by version; the code's digest and the pinned tools are added from the run's row."""
    try:
        known = get(agent, version)
    except UnknownAgent:
        return {"agent": agent, "version": version}
    return {"agent": agent, "version": version, "model": known.model, "prompt": known.prompt}


def due(run: "Locked") -> bool:
    """Whether this transaction owes a checkpoint: it was asked for, a step starts to wait, or four more have ended."""
    return (
        run.checkpoint
        or run.steps_ended // CHECKPOINT_EVERY > run.ended_before // CHECKPOINT_EVERY
        or any(step.status in ("WAITING_APPROVAL", "WAITING_EXTERNAL") for step in run.steps)
    )


def save(into: psycopg.Cursor[Any], runs: Iterable["Locked"]) -> None:
    """Writes one checkpoint for each of ``runs``, whose new heads were written before."""
    rows = [_row(run) for run in runs]
    if rows:
        into.execute(statement("runs", "insert_checkpoints"), {"checkpoints": orjson.dumps(rows).decode()})


def _row(run: "Locked") -> dict[str, Any]:
    return {
        "run": run.id,
        "summarised": run.summarised,
        "summary": run.summary,
        "versions": versions(run.agent, run.agent_version),
    }


def tell_unsound(run: "Locked", context: str) -> None:
    """A line of history when ``context`` (JSON text of `run_contexts`) had to pass over checkpoints, and a sound one on
    top, so that it is told once."""
    if '"unsound": []' in context:
        return
    passed_over = orjson.loads(context).get("unsound", [])
    if passed_over:
        run.checkpoint = True
        run.event("checkpoint.unsound", payload={"versions": passed_over})
