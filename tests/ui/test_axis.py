"""The time axis: what ran is drawn to scale, hours in which nothing ran are folded and named."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from config.ui.axis import lay_out, share

START = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


def _at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def _row(*spans: tuple[str, float, float | None], **extra: Any) -> dict[str, Any]:
    drawn = [{"kind": kind, "start": _at(a), "end": None if b is None else _at(b)} for kind, a, b in spans]
    return {"name": "step", "status": "SUCCEEDED", "spans": drawn, **extra}


def _number(percent: str) -> float:
    return float(percent.removesuffix("%"))


def test_bars_follow_each_other_to_scale() -> None:
    axis = lay_out([_row(("done", 0, 30)), _row(("done", 30, 90))], now=_at(90), live=False)
    first, second = (row.bars[0] for row in axis.rows)
    assert first.end == second.x
    assert abs(_number(second.width) - 2 * _number(first.width)) < 0.1
    assert not axis.folds
    assert axis.now == ""


def test_a_long_wait_is_folded_and_says_how_long() -> None:
    rows = [_row(("done", 0, 60)), _row(("wait", 60, 8100)), _row(("done", 8100, 8160))]
    axis = lay_out(rows, now=_at(8160), live=False)
    assert [fold.text for fold in axis.folds] == ["2 h 14 min"]
    assert _number(axis.folds[0].width) < 15
    before, after = axis.rows[0].bars[0], axis.rows[2].bars[0]
    assert abs(_number(before.width) - _number(after.width)) < 0.1


def test_a_wait_that_goes_on_ends_at_now() -> None:
    axis = lay_out([_row(("done", 0, 60)), _row(("wait", 60, None))], now=_at(120), live=True)
    assert axis.rows[1].bars[0].end == axis.now
    assert _number(axis.now) < 100


def test_the_shortest_step_can_still_be_seen_inside_the_drawing() -> None:
    axis = lay_out([_row(("done", 0, 3000)), _row(("done", 3000, 3000))], now=_at(3000), live=False)
    bar = axis.rows[1].bars[0]
    assert _number(bar.width) >= 0.5
    assert _number(bar.end) <= 100


def test_nothing_begun_draws_rows_without_bars() -> None:
    axis = lay_out([_row(), _row()], now=START, live=True)
    assert [row.bars for row in axis.rows] == [(), ()]


def test_ticks_keep_clear_of_folds_and_of_each_other() -> None:
    rows = [_row(("done", 0, 400)), _row(("done", 9000, 9400))]
    axis = lay_out(rows, now=_at(9400), live=True)
    places = [_number(tick.x) for tick in axis.ticks]
    assert places == sorted(places)
    assert all(later - earlier >= 11 for earlier, later in pairwise(places[1:]))
    fold = axis.folds[0]
    assert not [x for x in places if _number(fold.x) <= x <= _number(fold.end)]


def test_lengths_in_svg_are_never_localised_and_never_leave_the_drawing() -> None:
    assert share(1, 3) == "33.33%"
    assert share(9, 3) == "100%"
    assert share(0, 0) == "0%"


def test_words_stay_inside_the_drawing() -> None:
    short = {"kind": "wait", "start": _at(90), "end": None, "label": "one of the approvers"}
    early = {"kind": "wait", "start": _at(0), "end": _at(5), "label": "one of the approvers"}
    rows = [_row(("done", 0, 90)), {**_row(), "spans": [short]}, {**_row(), "spans": [early]}]
    axis = lay_out(rows, now=_at(100), live=True)
    assert [row.bars[0].side for row in axis.rows] == ["in", "before", "after"]
    assert axis.rows[0].note_side == ""
