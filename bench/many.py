"""A thousand runs, each inside an asynchronous call of five seconds, on one node."""

from __future__ import annotations

import threading

import psutil
from django.db import connection

from bench import load
from bench.bench import Bench
from bench.clocks import held, now

RUNS, SECONDS = 1000, 5.0


def measure(bench: Bench) -> dict[str, float]:
    """Seconds from the moment that the node may start to the last finished run, and the node's memory in MB, children
    included, at its highest."""
    assert bench.servers.node is not None
    main = psutil.Process(bench.servers.node.pid)
    peak, stop = [0.0], threading.Event()
    watch = threading.Thread(target=_watch, args=(main, peak, stop), daemon=True)
    with held(main.pid):
        made = load.submit_runs(
            bench.who, runs=RUNS, input={"steps": 1, "tool": "drill.sleep", "arguments": {"seconds": SECONDS}}
        )
        start = now()
    watch.start()
    load.wait(made, alive=bench.servers.alive)
    stop.set()
    watch.join()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM max(finished_at))::float FROM runs_run WHERE id = ANY (%s)", [made]
        )
        seconds = float(cursor.fetchone()[0]) - start
    print(f"{RUNS} runs inside a call of {SECONDS:g} s: {seconds:.1f} s, {peak[0]:.0f} MB with all children")
    return {"many_s": round(seconds, 2), "many_mb": round(peak[0], 1)}


def _watch(main: psutil.Process, peak: list[float], stop: threading.Event) -> None:
    while not stop.wait(0.2):
        peak[0] = max(peak[0], memory(main))


def memory(main: psutil.Process) -> float:
    """Megabytes of a node and all its children."""
    total = 0.0
    for process in [main, *main.children(recursive=True)]:
        try:
            total += process.memory_info().rss / 1e6
        except psutil.NoSuchProcess:
            continue
    return total
