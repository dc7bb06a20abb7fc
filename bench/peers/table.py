"""The table, in Markdown: the same text for the terminal and for the documentation."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench.peers.meter import Work

_HEAD = (
    "system",
    "version",
    "steps/s",
    "p50 / p95 ms a step",
    "CPU s per 1,000 steps",
    "after `kill -9`",
    "parked: KB each · resume p50 / p95 ms",
    "remarks",
)
#: absurd's schema is not on PyPI, so it does not run here. Figures measured on two cores in November 2026, version 0.5.1.
QUOTED = (
    "absurd (quoted)",
    "0.5.1, November 2026",
    "1,274",
    "0.83 / 1.04",
    "1.1",
    "nothing within 70 s",
    "0.8 · 126 / –",
    "durable; quoted, not run here: its schema is not on PyPI",
)


@dataclass(slots=True)
class Row:
    """One system. ``gaps`` in milliseconds, ``recovery`` in seconds (None: not within ``patience``), ``parked`` in
    kilobytes, ``resumed`` in milliseconds."""

    title: str
    version: str
    work: Work | None = None
    gaps: Sequence[float] = ()
    recovery: float | None = None
    asked_recovery: bool = True
    patience: float = 0.0
    parked: float | None = None
    resumed: Sequence[float] = ()
    durable: bool = True
    note: str = ""
    failures: list[str] = field(default_factory=list)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The whole table, the quoted line last."""
    yield "| " + " | ".join(_HEAD) + " |"
    yield "|" + " --- |" * len(_HEAD)
    for row in rows:
        yield "| " + " | ".join(_cells(row)) + " |"
    yield "| " + " | ".join(QUOTED) + " |"


def _cells(row: Row) -> tuple[str, ...]:
    remarks = ["durable" if row.durable else "not durable", row.note, *row.failures]
    return (
        row.title,
        row.version,
        f"{row.work.per_second:,.0f}" if row.work else "–",
        pair(row.gaps),
        f"{row.work.cpu_per_1000:.2f}" if row.work else "–",
        _recovery(row),
        f"{row.parked:.1f} · {pair(row.resumed)}" if row.parked is not None else "–",
        "; ".join(remark for remark in remarks if remark),
    )


def _recovery(row: Row) -> str:
    if not row.asked_recovery:
        return "–"
    return f"nothing within {row.patience:g} s" if row.recovery is None else f"{row.recovery:.2f} s"


def pair(samples: Sequence[float]) -> str:
    """Median and 95 % quantile."""
    if not samples:
        return "–"
    ordered = sorted(samples)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered):.2f} / {high:.2f}"


def ratios(rows: Sequence[Row]) -> Iterator[str]:
    """How much more we do than each of the others that ran beside us."""
    first = next((row for row in rows if row.title == "Countersign" and row.work), None)
    if first is None or first.work is None:
        return
    for row in rows:
        if row is not first and row.work:
            yield f"{first.work.per_second / row.work.per_second:.1f} times the steps a second of {row.title}"
