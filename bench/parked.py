"""Two thousand runs that wait for a signal: what they hold while they wait, and how soon the next step starts."""

from __future__ import annotations

import statistics
import time
import uuid

import psutil
from django.db import connection

from bench import load
from bench.bench import Bench
from runs.engine.signal import signal
from runs.models import Run, Step

RUNS, SIGNALLED = 2000, 200


def measure(bench: Bench) -> dict[str, float]:
    """Milliseconds on the database's clock from a signal's commit to the start of the call that follows it; threads and
    connections of the node while the runs wait, beyond those that it has without them."""
    assert bench.servers.node is not None
    main = psutil.Process(bench.servers.node.pid)
    before = main.num_threads(), len(main.net_connections("tcp"))
    rounds = [
        [{"do": "wait", "key": "go", "signal": "go"}],
        [{"do": "call", "key": "next", "tool": "drill.noop"}],
    ]
    made = [load.script(bench.who, rounds=rounds) for _ in range(RUNS)]
    waiting = Run.everywhere.filter(pk__in=made, status="WAITING_EXTERNAL")
    load.until(lambda: waiting.count() == RUNS, what="all runs wait", alive=bench.servers.alive)
    held = Step.everywhere.filter(run_id__in=made, owner__isnull=False).count()
    threads, connections = main.num_threads() - before[0], len(main.net_connections("tcp")) - before[1]
    for number, run in enumerate(made[:SIGNALLED]):
        signal(tenant_id=bench.who.tenant.pk, run_id=run, name="go", external_id=str(number), payload={})
        # One by one, so that each is woken alone.
        time.sleep(load.PAUSE)
    load.wait(made[:SIGNALLED], alive=bench.servers.alive)
    times = sorted(_times(made[:SIGNALLED]))
    worst = times[int(0.95 * len(times))]
    print(
        f"{RUNS} parked runs hold {held} leases, {threads} threads, {connections} connections; signal to next call: "
        f"p50 {statistics.median(times):.1f} ms, p95 {worst:.1f} ms"
    )
    return {
        "parked_leases": held,
        "parked_threads": threads,
        "parked_connections": connections,
        "resume_p50_ms": round(statistics.median(times), 1),
        "resume_p95_ms": round(worst, 1),
    }


def _times(runs: list[uuid.UUID]) -> list[float]:
    """Of each run, the milliseconds from the end of its wait to the start of the call after it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM n.started_at - w.finished_at)::float * 1000 FROM runs_step w"
            " JOIN runs_step n ON n.run_id = w.run_id AND n.key = 'next' WHERE w.run_id = ANY (%s) AND w.key = 'go'",
            [runs],
        )
        return [float(row[0]) for row in cursor.fetchall()]
