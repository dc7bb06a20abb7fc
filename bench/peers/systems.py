"""The peers, and the settings that are fair to each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: How work goes on after a crash: another worker stands by · the same worker is started again · the application calls.
Recovery = Literal["stands by", "starts again", "calls again"]


@dataclass(frozen=True, slots=True)
class System:
    """One peer. ``distribution`` is its name on PyPI, ``script`` its file in ``work``; ``processes`` do the many runs.

    ``left_sql`` counts what is still to do when work is handed in to a queue; without it each process does its share of runs
    and says when it is done. ``waits``: it can park a run until a message comes. ``durable``: each step's result is kept.
    """

    title: str
    distribution: str
    script: str
    processes: int
    recovery: Recovery
    durable: bool
    waits: bool = False
    queue: bool = False
    left_sql: str = ""
    note: str = ""


SYSTEMS = (
    System(
        title="DBOS",
        distribution="dbos",
        script="dbos_peer.py",
        processes=2,
        recovery="starts again",
        durable=True,
        waits=True,
        note="taken up again only by a process with the same executor id",
    ),
    System(
        title="LangGraph + PostgreSQL checkpoints",
        distribution="langgraph",
        script="langgraph_peer.py",
        processes=2,
        recovery="calls again",
        durable=True,
        waits=True,
        note="no workers: the application calls the graph, also after a crash",
    ),
    System(
        title="pgqueuer",
        distribution="pgqueuer",
        script="pgqueuer_peer.py",
        processes=2,
        recovery="stands by",
        durable=False,
        queue=True,
        left_sql="SELECT count(*) FROM pgqueuer",
        note="a queue: results of steps are not kept",
    ),
    System(
        title="procrastinate",
        distribution="procrastinate",
        script="procrastinate_peer.py",
        processes=2,
        recovery="stands by",
        durable=False,
        queue=True,
        left_sql="SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
        note="a queue: results of steps are not kept; stalled jobs are taken up by a task that one writes oneself",
    ),
    System(
        title="Celery chain",
        distribution="celery",
        script="celery_peer.py",
        processes=1,
        recovery="stands by",
        durable=False,
        queue=True,
        note="the broker keeps everything in memory; taken up again after the visibility timeout of one hour",
    ),
)
