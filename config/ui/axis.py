"""Geometry of the timeline: instants in, percentages out.

Hours in which nothing ran are folded, and the fold says how long it was: a run that worked four minutes and
waited two hours shows the four minutes. Everything is a percentage of the width, so the drawing needs no
script and no inline style.

A row is a mapping: ``name``; ``status`` (state of the step as stored); ``url`` (optional); ``took`` (text, or seconds);
``label`` (what a screen reader says); ``on`` (the row to look at); ``note`` (words after the last bar);
``spans``: a list of mappings with ``kind`` (done, running, failed, wait, late, stopped), ``start``, ``end`` (``None`` while
it lasts) and ``label`` (words inside a wait).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from django.utils import timezone

from config.ui import moments, spans

FOLD_OVER: Final = timedelta(minutes=10)
FOLD_WIDTH: Final = 14.0
TICK_STEPS: Final = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14400,
    43200,
    86400,
    604800,
)
MOST_TICKS: Final = 6
MARGIN: Final = 5.0
LAST_TICK: Final = 88.0
WORDS: Final = 30.0  # width that words need, so that they never leave the drawing


@dataclass(frozen=True, slots=True)
class Bar:
    """One drawn span: edges and width as percentages, and its words inside, before or after it."""

    kind: str
    x: str
    width: str
    end: str
    label: str
    side: str


@dataclass(frozen=True, slots=True)
class Row:
    """One step on the axis. ``since`` is the start of what still lasts, so that the page can tick."""

    name: str
    url: str
    status: str
    took: str
    label: str
    note: str
    note_x: str
    note_side: str
    since: datetime | None
    on: bool
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled place on the axis: a tick or the middle of a fold."""

    x: str
    text: str
    anchor: str = "middle"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """A stretch in which nothing ran, drawn at a fixed width."""

    x: str
    width: str
    end: str
    middle: str
    text: str


@dataclass(slots=True)
class Axis:
    """The whole drawing; ``now`` is empty when the run has ended."""

    rows: list[Row] = field(default_factory=list)
    ticks: list[Mark] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    now: str = ""
    folded: str = ""
    kinds: list[str] = field(default_factory=list)


def share(part: float | None, whole: float | None) -> str:
    """``part`` of ``whole`` as "36.8%", kept within 0 and 100; "0%" when the whole is nothing."""
    if not part or not whole or whole <= 0:
        return "0%"
    return f"{min(100.0, max(0.0, 100.0 * part / whole)):.4g}%"


def _pct(value: float) -> str:
    return f"{value:.2f}%"


class _Scale:
    """Maps instants to percentages; busy stretches share the width that folds leave."""

    def __init__(self, busy: list[tuple[datetime, datetime]], right: float) -> None:
        self.busy = busy
        folds = len(busy) - 1
        total = sum((end - start).total_seconds() for start, end in busy) or 1.0
        self.fold = min(FOLD_WIDTH, 40.0 / folds) if folds else 0.0
        self.unit = (right - folds * self.fold) / total

    def at(self, moment: datetime) -> float:
        x = 0.0
        for i, (start, end) in enumerate(self.busy):
            if moment <= start:
                return x
            if moment <= end or i == len(self.busy) - 1:
                return x + min(moment, end).timestamp() * self.unit - start.timestamp() * self.unit
            x += (end - start).total_seconds() * self.unit
            following = self.busy[i + 1][0]
            if moment < following:
                return x + self.fold * (moment - end) / (following - end)
            x += self.fold
        return x


def lay_out(rows: Sequence[Mapping[str, Any]], *, now: datetime | None = None, live: bool = True) -> Axis:
    """Place every span of ``rows`` on one axis that ends at ``now`` while the run lives."""
    present = now or timezone.now()
    drawn = [(row, [_closed(span, present) for span in row.get("spans", ())]) for row in rows]
    busy = _busy([span for _, row_spans in drawn for span in row_spans], present if live else None)
    if not busy:
        return Axis(rows=[_row(row, [], None) for row, _ in drawn])
    scale = _Scale(busy, 100.0 - MARGIN if live else 100.0)
    folds = [_fold(scale, before[1], after[0]) for before, after in pairwise(busy)]
    return Axis(
        rows=[_row(row, row_spans, scale) for row, row_spans in drawn],
        ticks=_ticks(busy, scale),
        folds=folds,
        now=_pct(scale.at(present)) if live else "",
        folded=", ".join(
            f"{moments.short(before[1], 'clock')}–{moments.short(after[0], 'clock')}"
            for before, after in pairwise(busy)
        ),
        kinds=sorted({span["kind"] for _, row_spans in drawn for span in row_spans}),
    )


def _closed(span: Mapping[str, Any], present: datetime) -> dict[str, Any]:
    end = span.get("end") or present
    return {**span, "end": max(end, span["start"])}


def _busy(all_spans: list[dict[str, Any]], present: datetime | None) -> list[tuple[datetime, datetime]]:
    """Stretches in which something other than a wait ran, joined across gaps shorter than ``FOLD_OVER``."""
    if not all_spans:
        return []
    first = min(span["start"] for span in all_spans)
    last = present or max(span["end"] for span in all_spans)
    working = [(span["start"], span["end"]) for span in all_spans if span["kind"] != "wait"]
    pad = min(timedelta(seconds=1), last - first)
    edges = sorted([(first, first + pad), (last - pad, last), *working])
    joined: list[tuple[datetime, datetime]] = [edges[0]]
    for start, end in edges[1:]:
        before = joined[-1]
        if start - before[1] <= FOLD_OVER:
            joined[-1] = (before[0], max(before[1], end))
        else:
            joined.append((start, end))
    return joined


def _fold(scale: _Scale, start: datetime, end: datetime) -> Fold:
    left, right = scale.at(start), scale.at(end)
    return Fold(
        x=_pct(left),
        width=_pct(right - left),
        end=_pct(right),
        middle=_pct((left + right) / 2),
        text=spans.span((end - start).total_seconds()),
    )


def _ticks(busy: list[tuple[datetime, datetime]], scale: _Scale) -> list[Mark]:
    """Round instants inside the busy stretches, at most ``MOST_TICKS``; every second one may be left out."""
    total = sum((end - start).total_seconds() for start, end in busy)
    step = next((s for s in TICK_STEPS if total / s <= MOST_TICKS), TICK_STEPS[-1])
    style = "time" if step < 60 else "clock" if step < 86400 else "day"
    room = 16.0 if style == "time" else 11.0
    marks = [Mark(_pct(0.0), moments.short(busy[0][0], style), "start")]
    taken = [(-room / 2, room / 2)]
    taken += [(scale.at(before[1]), scale.at(after[0])) for before, after in pairwise(busy)]
    for start, end in busy:
        moment = datetime.fromtimestamp(-(-start.timestamp() // step) * step, tz=start.tzinfo)
        while moment < end:
            x = scale.at(moment)
            if x <= LAST_TICK and all(x <= left - room / 2 or x >= right + room / 2 for left, right in taken):
                marks.append(Mark(_pct(x), moments.short(moment, style), optional=len(marks) % 2 == 1))
                taken.append((x - room / 2, x + room / 2))
            moment += timedelta(seconds=step)
    return marks


def _row(row: Mapping[str, Any], row_spans: list[dict[str, Any]], scale: _Scale | None) -> Row:
    bars = _uncovered([_bar(span, scale) for span in row_spans]) if scale else ()
    first = min((float(bar.x[:-1]) for bar in bars), default=0.0)
    last = max((float(bar.end[:-1]) for bar in bars), default=0.0)
    note_side = _side(first, last)
    return Row(
        name=str(row["name"]),
        url=str(row.get("url") or ""),
        status=str(row.get("status") or "PENDING"),
        took=_took(row.get("took")),
        label=str(row.get("label") or row["name"]),
        note=str(row.get("note") or ""),
        note_x=_pct(first if note_side == "before" else last),
        note_side=note_side,
        since=next((span["start"] for span in row.get("spans", ()) if span.get("end") is None), None),
        on=bool(row.get("on")),
        bars=bars,
    )


def _took(value: object) -> str:
    """Words as they are; seconds in words."""
    return spans.span(value, fine=True) if isinstance(value, float | int) else str(value or "")


def _side(left: float, right: float) -> str:
    """Where words beside a bar have room: after it, before it, or nowhere (the row says them to a reader)."""
    return "after" if right <= 100.0 - WORDS else "before" if left >= WORDS else ""


def _uncovered(bars: Sequence[Bar]) -> tuple[Bar, ...]:
    """Words that would lie on another bar of the row are left out; the row says them to a reader."""

    def covered(bar: Bar) -> bool:
        reach = {
            "before": (float(bar.x[:-1]) - WORDS, float(bar.x[:-1])),
            "after": (float(bar.end[:-1]), float(bar.end[:-1]) + WORDS),
        }.get(bar.side)
        return reach is not None and any(
            float(other.x[:-1]) < reach[1] and float(other.end[:-1]) > reach[0]
            for other in bars
            if other is not bar
        )

    return tuple(replace(bar, side="") if covered(bar) else bar for bar in bars)


def _bar(span: Mapping[str, Any], scale: _Scale) -> Bar:
    left, right = scale.at(span["start"]), scale.at(span["end"])
    width = max(right - left, 0.75)
    left = min(left, 100.0 - width)
    side = "in" if width >= WORDS else _side(left, left + width)
    words = str(span.get("label") or "")
    return Bar(str(span["kind"]), _pct(left), _pct(width), _pct(left + width), words, side)
