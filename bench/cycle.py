"""The cycle of a step without an effect: many runs at once, then one run alone, in rounds."""

from __future__ import annotations

import itertools
import statistics
import uuid
from dataclasses import dataclass, field

from django.db import connection

from bench import clocks, load
from bench.bench import Bench
from bench.servers import Servers
from bench.table import rows
from runs.models import Step


def measure(bench: Bench) -> dict[str, float]:
    """The figures of the median round, and the memory afterwards."""
    rounds = []
    for _ in range(bench.given.rounds):
        many = throughput(bench.servers, bench.who, runs=bench.given.runs, steps=bench.given.steps)
        rounds.append((many, latency(bench.who, steps=bench.given.latency)))
    memory = clocks.memory(bench.servers)
    for line in rows(rounds, memory=memory):
        print(line)
    many, alone = sorted(rounds, key=lambda pair: pair[0].per_second)[len(rounds) // 2]
    return {
        "steps_per_s": round(many.per_second, 1),
        "p50_ms": round(alone.median, 3),
        "p95_ms": round(alone.quantile(0.95), 3),
        "cpu_s_per_1000": round(many.cpu_per_1000, 4),
        "wal_bytes_per_step": round(many.wal / many.steps),
        "main_mb": round(memory, 1),
        "runs": many.runs,
        "steps": many.steps,
    }


@dataclass
class Throughput:
    """``seconds`` from the moment that the node may start to the last finished run; ``wal`` in bytes."""

    runs: int
    steps: int
    seconds: float
    cpu: clocks.Cpu
    wal: int

    @property
    def per_second(self) -> float:
        return self.steps / self.seconds

    @property
    def cpu_per_1000(self) -> float:
        return self.cpu.total / self.steps * 1000


@dataclass
class Latency:
    """Milliseconds from one finished step to the next of one run alone."""

    samples: list[float] = field(default_factory=list)

    def quantile(self, part: float) -> float:
        ordered = sorted(self.samples)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)


def throughput(servers: Servers, who: load.Cast, *, runs: int, steps: int) -> Throughput:
    """Submits while the node is held still, lets it go, and waits for the last run."""
    assert servers.node is not None
    with clocks.held(servers.node.pid):
        made = load.count(who, runs=runs, steps=steps)
        before, wal, start = clocks.cpu(servers), clocks.wal(), clocks.now()
    load.wait(made, alive=servers.alive)
    used = clocks.cpu(servers) - before
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM max(finished_at))::float, (SELECT count(*) FROM runs_step"
            " WHERE run_id = ANY (%s) AND kind = 'call') FROM runs_run WHERE id = ANY (%s)",
            [made, made],
        )
        end, done = cursor.fetchone()
    return Throughput(runs, int(done), float(end) - start, used, clocks.wal() - wal)


def latency(who: load.Cast, *, steps: int) -> Latency:
    """One run alone."""
    run = load.count(who, runs=1, steps=steps)
    load.wait(run)
    return Latency(_gaps(run[0]))


def _gaps(run: uuid.UUID) -> list[float]:
    ends = list(
        Step.everywhere.filter(run_id=run, kind="call")
        .order_by("ended_seq")
        .values_list("finished_at", flat=True)
    )
    return [(later - earlier).total_seconds() * 1000 for earlier, later in itertools.pairwise(ends)]
