"""Whether the memory of a node's main process stays flat. Only with ``--long``: 100,000 steps take a while."""

from __future__ import annotations

from bench import clocks, load
from bench.bench import Bench

PARTS = 5
STEPS = 10


def measure(bench: Bench) -> dict[str, float]:
    """Megabytes before and after so many steps, done in parts."""
    if not bench.given.long:
        return {}
    runs = max(1, bench.given.long // STEPS // PARTS)
    sizes = [clocks.memory(bench.servers)]
    for _ in range(PARTS):
        load.wait(load.count(bench.who, runs=runs, steps=STEPS), seconds=1200, alive=bench.servers.alive)
        sizes.append(clocks.memory(bench.servers))
    shown = " → ".join(f"{size:.1f}" for size in sizes)
    print(f"Memory of the main process over {PARTS * runs * STEPS:,} steps, in MB: {shown}")
    return {"main_mb_start": round(sizes[0], 1), "main_mb_end": round(sizes[-1], 1)}
