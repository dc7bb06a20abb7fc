"""How soon a request to stop reaches a tool that runs: until its step is recorded as cancelled."""

from __future__ import annotations

import statistics
import time

from bench import load
from bench.bench import Bench
from runs.engine.cancel import cancel
from runs.models import Run, Step

RUNS = 25
SECONDS = 60


def measure(bench: Bench) -> dict[str, float]:
    """Milliseconds on the database's clock, from the request of each run to the end of its sleeping step."""
    made = load.submit_runs(
        bench.who, runs=RUNS, input={"steps": 1, "tool": "drill.sleep", "arguments": {"seconds": SECONDS}}
    )
    running = Step.everywhere.filter(run_id__in=made, kind="call", status="RUNNING")
    load.until(lambda: running.count() == RUNS, what="all steps run", alive=bench.servers.alive)
    for run in made:
        cancel(run_id=run, user_id=bench.who.submitter.pk)
        # One after the other, so that each is heard of alone.
        time.sleep(load.PAUSE)
    left = Run.everywhere.filter(pk__in=made).exclude(status="CANCELLED")
    load.until(lambda: not left.exists(), what="all runs are cancelled", alive=bench.servers.alive)
    ends = Step.everywhere.filter(run_id__in=made, kind="call", status="CANCELLED")
    times = sorted(
        (end - asked).total_seconds() * 1000
        for end, asked in ends.values_list("finished_at", "run__cancel_requested_at")
    )
    worst = times[int(0.95 * len(times))]
    print(
        f"Cancel until the tool has stopped: p50 {statistics.median(times):.1f} ms, p95 {worst:.1f} ms ({RUNS} runs)"
    )
    return {"cancel_ms": round(worst, 1)}
