"""The figures for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.cycle import Latency, Throughput

_HEAD = ("round", "steps/s", "p50 ms", "p95 ms", "CPU main", "children", "PostgreSQL", "s/1000", "WAL B/step")
_LINE = "{:>5}  {:>8}  {:>7}  {:>7}  {:>8}  {:>8}  {:>10}  {:>7}  {:>10}"


def rows(rounds: Sequence[tuple[Throughput, Latency]], *, memory: float) -> Iterator[str]:
    """One line a round; processor time is in milliseconds a step."""
    first = rounds[0][0]
    yield f"{first.runs} runs x {first.steps // first.runs} steps, then one run x {len(rounds[0][1].samples) + 1} steps"
    yield _LINE.format(*_HEAD)
    for number, (many, alone) in enumerate(rounds, 1):
        each = [part / many.steps * 1000 for part in (many.cpu.main, many.cpu.children, many.cpu.postgres)]
        yield _LINE.format(
            number,
            f"{many.per_second:,.0f}",
            f"{alone.median:.2f}",
            f"{alone.quantile(0.95):.2f}",
            *(f"{part:.3f}" for part in each),
            f"{many.cpu_per_1000:.3f}",
            f"{many.wal / many.steps:,.0f}",
        )
    yield f"Memory of the node's main process: {memory:.0f} MB. CPU columns: ms a step."
