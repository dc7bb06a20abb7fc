"""Many runs at once, and many that wait: nobody holds what waits, timers stand in the database, and a bell wakes at once."""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis
from django.db import connection
from django.db.models import Max, Min

from approvals.decide import decide
from approvals.models import PendingAction
from runs.agents.drill import Script
from runs.engine.signal import signal
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.runs.node import real

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]

#: Promises of issue 3, and five times as much for a machine that does other things as well.
SECONDS_OF_1000, MEGABYTES, RESUME_P95_MS, SLACK = 15.0, 600.0, 50.0, 5


def sleepers(who: Any, number: int, seconds: float) -> list[Run]:
    return [real.run_of(who, tool="drill.sleep", arguments={"seconds": seconds}) for _ in range(number)]


def memory(node: real.Node) -> float:
    """Megabytes of the node and its children."""
    main = psutil.Process(node.process.pid)
    return sum(one.memory_info().rss for one in [main, *main.children(recursive=True)]) / 1e6


def parked(who: Any, number: int, **wait: Any) -> list[Run]:
    line = {"do": "wait", "key": "go", "signal": "go", **wait}
    follow = {"do": "call", "key": "next", "tool": "drill.noop"}
    runs = [hands.script_run(*who, [line], [follow]) for _ in range(number)]
    waits = Step.everywhere.filter(run__in=runs, key="go", status="WAITING_EXTERNAL")
    real.until(lambda: waits.count() == number, what="all wait")
    return runs


@pytest.mark.parametrize("number", [150, pytest.param(1000, marks=pytest.mark.drills)])
def test_a_thousand_sleepers_need_no_thousand_workers(start: Any, who: Any, number: int) -> None:
    """Guards the asynchronous pool: all are inside their call at the same time, in the memory of one node."""
    runs = sleepers(who, number, 5)
    node = start(COUNTERSIGN_POOLS="io:1:1200,thread:1:8,cpu:1:1", COUNTERSIGN_LEASE_SECONDS="10")
    inside = Step.everywhere.filter(run__in=runs, kind="call", status="RUNNING")
    most = peak = 0.0
    left = Run.everywhere.filter(pk__in=[run.pk for run in runs], finished_at__isnull=True)

    def done() -> bool:
        nonlocal most, peak
        most, peak = max(most, inside.count()), max(peak, memory(node))
        return not left.exists()

    real.until(done, seconds=SECONDS_OF_1000 * SLACK, what="all sleepers end")
    steps = Step.everywhere.filter(run__in=runs)
    span = steps.aggregate(first=Min("started_at"), last=Max("finished_at"))
    took = (span["last"] - span["first"]).total_seconds()
    print(f"{number} sleepers: {took:.1f} s, {peak:.0f} MB, {most:.0f} at a time")
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    assert most > 0.8 * number, "they are inside their calls at the same time"
    assert took < SECONDS_OF_1000 * SLACK
    assert peak < MEGABYTES
    assert {step.attempt for step in steps.filter(kind="call")} == {1}


def test_parked_runs_hold_nothing_and_a_signal_wakes_them_at_once(start: Any, who: Any) -> None:
    """Guards `outbox.bell` and `runs.node.keeper.Keeper._heard`: the node's poll is far longer than what is allowed here."""
    node = start(COUNTERSIGN_POLL_SECONDS="20")
    main = psutil.Process(node.process.pid)
    real.until(lambda: len(main.children()) >= 3, what="all children are up")
    # What a node starts for its first runs stays; only what comes with more of them would be held by them.
    _woken(parked(who, 3))
    threads = main.num_threads()
    runs = parked(who, 100)
    held = Step.everywhere.filter(run__in=runs, owner__isnull=False)
    assert not held.exists()
    # Asked until it is so: a look after a peer of an earlier test is a thread that ends by itself.
    real.until(lambda: main.num_threads() <= threads, what="no thread more than before")
    real.until(_nobody_sits_in_a_transaction, what="no transaction is left open")
    _woken(runs[:40])
    times = sorted(_between(run) for run in runs[:40])
    print(f"signal to next call: p50 {statistics.median(times):.1f} ms, p95 {times[37]:.1f} ms")
    assert times[37] < RESUME_P95_MS * SLACK


def _woken(runs: list[Run]) -> None:
    for run in runs:
        signal(tenant_id=run.tenant_id, run_id=run.pk, name="go", external_id=run.pk.hex, payload={})
        real.until(Step.everywhere.filter(run=run, key="next").exists, what="it goes on")


def _nobody_sits_in_a_transaction() -> bool:
    """Asked until it is so: at any moment a node may be between two statements of its own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%%'"
        )
        return bool(cursor.fetchone()[0] == 0)


def _between(run: Run) -> float:
    """Milliseconds from the end of the wait to the start of what follows."""
    ends = dict(Step.everywhere.filter(run=run, key="go").values_list("key", "finished_at"))
    starts = dict(Step.everywhere.filter(run=run, key="next").values_list("key", "started_at"))
    began, ended = starts["next"], ends["go"]
    assert began is not None
    assert ended is not None
    return float((began - ended).total_seconds() * 1000)


def test_an_answer_wakes_its_run_at_once(start: Any, who: Any) -> None:
    """Guards `approvals/announce.py: closed` and `runs.node.engine_threads.Engine._decided`: the poll is a minute away."""
    start(COUNTERSIGN_POLL_SECONDS="60")
    ask = {"do": "ask", "key": "ask", "question": "Go on?"}
    run = hands.script_run(*who, [ask], [{"do": "call", "key": "next", "tool": "drill.noop"}])
    asked = PendingAction.everywhere.filter(run_id=run.pk)
    real.until(asked.exists, what="it asks")
    action = asked.get()
    decide(
        action_id=action.pk,
        user_id=who[1].pk,
        verdict="answer",
        digest=action.digest,
        generation=action.generation,
        channel="web",
        authenticated="password",
        fresh=True,
        answer={},
    )
    real.ended(run, seconds=30)
    assert real.status(run) == "SUCCEEDED"


def test_b06_timers_outlive_every_worker_and_the_broker(start: Any, who: Any, tmp_path: Path) -> None:
    """Guards `runs/engine/timers.py: end_waits` and `runs/sql/insert_steps.sql`: the deadline is a column, no message."""
    node = start()
    runs = parked(who, 50, signal="", seconds=6)
    node.process.kill()
    node.process.wait()
    with redis.Redis.from_url(os.environ["BROKER_URL"]) as broker:
        broker.flushall()
    deadlines = Step.everywhere.filter(run__in=runs, key="go").values_list("deadline", flat=True)
    start()
    real.ended(*runs, seconds=60)
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    woken = Step.everywhere.filter(run__in=runs, key="go").values_list("finished_at", "deadline")
    assert all(ended is not None and due is not None and ended >= due for ended, due in woken), (
        "none before its time"
    )
    assert len(deadlines) == 50


def test_a_node_says_which_agents_it_has(start: Any, who: Any) -> None:
    """Guards `runs.node.node.Node`: what `tell_stranded` reads."""
    assert Script.digest() in start().worker.agents
