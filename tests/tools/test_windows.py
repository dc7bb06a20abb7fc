"""Rolling windows against a list of every call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.windows import HOUR, MINUTE, Window

START = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
LENGTHS = st.sampled_from([HOUR, MINUTE])
#: Parts of the window between one try and the next.
GAPS = st.lists(st.floats(0, 1.2), min_size=1, max_size=40)


@given(LENGTHS, GAPS, st.integers(1, 6))
def test_never_more_than_allowed_in_any_window_wherever_it_begins(seconds, gaps, limit):
    """Guards tools/windows.py `used`: L16. Every call that was let through is compared with all before it."""
    window, at, calls = Window(seconds), START, []
    for gap in gaps:
        at += timedelta(seconds=gap * seconds)
        if window.used(at) < limit:
            window = window.taken(at)
            calls.append(at)
            recent = [call for call in calls if call > at - timedelta(seconds=seconds)]
            assert len(recent) <= limit
            assert len(window.counts) <= 61


@given(LENGTHS, GAPS, st.integers(1, 4), st.integers(0, 9))
def test_the_time_that_is_promised_is_the_first_with_room(seconds, gaps, limit, before):
    """Guards tools/windows.py `free_at`: who waits for it and finds the others before it gone has room then, and not a slot
    earlier."""
    window, at = Window(seconds), START
    for gap in gaps:
        at += timedelta(seconds=gap * seconds)
        if window.used(at) < limit:
            window = window.taken(at)
    promised = window.free_at(at, limit, before=before)
    assert promised >= at
    for place in range(before):
        moment = window.free_at(at, limit)
        assert moment <= promised, place
        window, at = window.taken(moment), moment
    assert window.free_at(at, limit) == promised
    assert window.used(promised) < limit
    if promised > at:
        assert window.used(promised - timedelta(seconds=1)) >= limit


def test_what_is_over_does_not_count_and_takes_no_room():
    window = Window(HOUR).taken(START).taken(START)
    assert window.used(START + timedelta(minutes=60)) == 2
    assert window.used(START + timedelta(minutes=61)) == 0
    assert window.taken(START + timedelta(hours=9)).counts == (1,)


def test_a_clock_that_was_set_back_gives_no_room():
    window = Window(HOUR).taken(START)
    assert window.used(START - timedelta(minutes=5)) == 1
    assert window.taken(START - timedelta(minutes=5)).used(START) == 2


@pytest.mark.parametrize(("limit", "before", "minutes"), [(2, 0, 61), (2, 1, 61), (2, 2, 122), (2, 5, 183)])
def test_those_that_wait_are_told_different_times(limit, before, minutes):
    window = Window(HOUR).taken(START).taken(START)
    assert window.free_at(START, limit, before=before) == START + timedelta(minutes=minutes)
