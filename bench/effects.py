"""Steps with an effect: intent, begin, one POST to a local service that counts, record, commit."""

from __future__ import annotations

import itertools
import json
import statistics
import urllib.request
import uuid

from bench import clocks, load
from bench.bench import Bench
from runs.models import Step
from tools.models import Intent

STEPS = 5
ALONE = 60


class Miscounted(Exception):
    """The service was sent another number of effects than the product says."""


def measure(bench: Bench) -> dict[str, float]:
    """Throughput of many runs, latency of one alone, and the count of the service against the product's own."""
    assert bench.servers.node is not None
    before = _ledger(bench)
    with clocks.held(bench.servers.node.pid):
        made = load.submit_runs(bench.who, runs=bench.given.effects, input=_input(STEPS))
        used, wal, start = clocks.cpu(bench.servers), clocks.wal(), clocks.now()
    load.wait(made, alive=bench.servers.alive)
    steps = len(made) * STEPS
    seconds = max(_ends(made)) - start
    cpu, wal = clocks.cpu(bench.servers) - used, clocks.wal() - wal
    alone = load.submit_runs(bench.who, runs=1, input=_input(ALONE))
    load.wait(alone, alive=bench.servers.alive)
    ends = _ends(alone)
    gaps = sorted((later - earlier) * 1000 for earlier, later in itertools.pairwise(ends))
    _compare(before, _ledger(bench), steps + ALONE, [*made, *alone])
    p50, p95 = statistics.median(gaps), gaps[int(0.95 * len(gaps))]
    main, children, postgres = (part / steps * 1000 for part in (cpu.main, cpu.children, cpu.postgres))
    print(
        f"Effects: {len(made)} runs x {STEPS}: {steps / seconds:,.0f} a second; one run alone p50 {p50:.2f} ms, "
        f"p95 {p95:.2f} ms; CPU ms a step: main {main:.2f}, children {children:.2f}, PostgreSQL {postgres:.2f}; "
        f"WAL {wal / steps:,.0f} B a step"
    )
    return {
        "effect_steps_per_s": round(steps / seconds, 1),
        "effect_p50_ms": round(p50, 2),
        "effect_p95_ms": round(p95, 2),
        "effect_cpu_s_per_1000": round(cpu.total / steps * 1000, 3),
    }


def _input(steps: int) -> dict[str, object]:
    return {"steps": steps, "tool": "drill.post", "arguments": {"amount": 12}}


def _ends(runs: list[uuid.UUID]) -> list[float]:
    """When the steps ended, in seconds of the database's clock, in order."""
    calls = Step.everywhere.filter(run_id__in=runs, kind="call")
    return sorted(end.timestamp() for end in calls.values_list("finished_at", flat=True) if end)


def _ledger(bench: Bench) -> dict[str, int]:
    with urllib.request.urlopen(f"http://{bench.servers.far_side}/ledger", timeout=5) as answer:
        counted: dict[str, int] = json.loads(answer.read())
    return counted


def _compare(before: dict[str, int], after: dict[str, int], steps: int, runs: list[uuid.UUID]) -> None:
    confirmed = Intent.everywhere.filter(run_id__in=runs, status=Intent.Status.CONFIRMED).count()
    sent = {name: after[name] - before[name] for name in after}
    if sent != {"effects": steps, "keys": steps} or confirmed != steps:
        raise Miscounted(f"{steps} steps, {confirmed} confirmed, the service counted {sent}")
