"""Two thousand runs that wait for a signal: what they hold while they wait, and how soon the next step starts."""

from __future__ import annotations

import statistics
import time
import uuid
from dataclasses import dataclass

import psutil
from django.db import connection

from bench import load
from bench.bench import Bench
from bench.servers import Servers
from runs.engine.signal import signal
from runs.models import Run, Step

RUNS, SIGNALLED = 2000, 200


@dataclass(frozen=True)
class Parked:
    """What so many waiting runs held, ``kilobytes`` of the node's main process for each, and the milliseconds from a
    signal's commit to the start of the call that follows it."""

    leases: int
    threads: int
    connections: int
    kilobytes: float
    times: list[float]


def measure(bench: Bench) -> dict[str, float]:
    """Two thousand of them, two hundred signalled one by one."""
    found = park(bench.servers, bench.who, runs=RUNS, signalled=SIGNALLED)
    worst = found.times[int(0.95 * len(found.times))]
    print(
        f"{RUNS} parked runs hold {found.leases} leases, {found.threads} threads, {found.connections} connections; "
        f"signal to next call: p50 {statistics.median(found.times):.1f} ms, p95 {worst:.1f} ms"
    )
    return {
        "parked_leases": found.leases,
        "parked_threads": found.threads,
        "parked_connections": found.connections,
        "resume_p50_ms": round(statistics.median(found.times), 1),
        "resume_p95_ms": round(worst, 1),
    }


def park(servers: Servers, who: load.Cast, *, runs: int, signalled: int) -> Parked:
    """Runs that wait for a signal; some of them get it. Times on the database's clock; threads and connections beyond those
    that the node has without them."""
    assert servers.node is not None
    main = psutil.Process(servers.node.pid)
    before = main.num_threads(), len(main.net_connections("tcp")), main.memory_info().rss
    rounds = [
        [{"do": "wait", "key": "go", "signal": "go"}],
        [{"do": "call", "key": "next", "tool": "drill.noop"}],
    ]
    made = [load.script(who, rounds=rounds) for _ in range(runs)]
    waiting = Run.everywhere.filter(pk__in=made, status="WAITING_EXTERNAL")
    load.until(lambda: waiting.count() == runs, what="all runs wait", alive=servers.alive)
    held = Step.everywhere.filter(run_id__in=made, owner__isnull=False).count()
    threads, connections = main.num_threads() - before[0], len(main.net_connections("tcp")) - before[1]
    kilobytes = max(0, main.memory_info().rss - before[2]) / 1000 / runs
    for number, run in enumerate(made[:signalled]):
        signal(tenant_id=who.tenant.pk, run_id=run, name="go", external_id=str(number), payload={})
        # One by one, so that each is woken alone.
        time.sleep(load.PAUSE)
    load.wait(made[:signalled], alive=servers.alive)
    return Parked(held, threads, connections, kilobytes, sorted(_times(made[:signalled])))


def _times(runs: list[uuid.UUID]) -> list[float]:
    """Of each run, the milliseconds from the end of its wait to the start of the call after it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM n.started_at - w.finished_at)::float * 1000 FROM runs_step w"
            " JOIN runs_step n ON n.run_id = w.run_id AND n.key = 'next' WHERE w.run_id = ANY (%s) AND w.key = 'go'",
            [runs],
        )
        return [float(row[0]) for row in cursor.fetchall()]
