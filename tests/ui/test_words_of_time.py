"""Lengths of time, ages and sizes read the same on the server as in the browser (static/js/ages.js)."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone, translation

from config.ui import moments, spans

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (8520, "2 h 22 min"),
        (86400, "1 day"),
        (172800, "2 days"),
    ],
)
def test_a_span_has_at_most_two_units(seconds: float, text: str) -> None:
    assert spans.span(seconds) == text


def test_how_long_a_step_took_keeps_its_seconds_below_ten_minutes() -> None:
    assert spans.span(101, fine=True) == "1 min 41 s"
    assert spans.span(660, fine=True) == "11 min"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.004, "0 s"), (0.04, "0.04 s"), (0.21, "0.2 s"), (0.94, "0.9 s"), (1.7, "1 s")],
)
def test_what_took_less_than_a_second_did_not_take_nothing(seconds: float, text: str) -> None:
    assert spans.span(seconds, fine=True) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (318, "318 bytes"),
        (1200, "1.2 KB"),
        (18_400, "18 KB"),
        (1_200_000, "1.2 MB"),
        (999_600, "1.0 MB"),
    ],
)
def test_sizes_are_decimal(count: int, text: str) -> None:
    assert spans.size(count) == text


def test_what_has_run_out_says_so() -> None:
    assert moments.left(NOON - timedelta(seconds=1), now=NOON) == "expired"
    assert moments.left(NOON + timedelta(hours=4, minutes=57), now=NOON) == "4 h 57 min left"


def test_short_instants_follow_the_reader_zone_and_the_exact_one_is_on_hover() -> None:
    with timezone.override("Europe/Berlin"):
        tag = moments.tag(NOON, moments.short(NOON, now=NOON), style="auto")
    assert ">13:00<" in tag
    assert 'title="30 Nov 2026, 13:00:00 CET"' in tag
    assert 'datetime="2026-11-30T12:00:00+00:00"' in tag


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (NOON, "12:00"),
        (NOON - timedelta(days=3), "27 Nov"),
        (NOON - timedelta(days=400), "26 October 2025"),
        (date(2026, 12, 1), "1 December 2026"),
    ],
)
def test_the_further_away_the_longer(at: datetime | date, text: str) -> None:
    assert moments.short(at, now=NOON) == text


def test_chinese_has_its_own_units_and_dates() -> None:
    with translation.override("zh-hans"):
        assert spans.span(8520) == "2 小时 22 分钟"
        assert moments.age(NOON - timedelta(minutes=42), now=NOON) == "42 分钟前"
        assert moments.short(NOON - timedelta(days=3), now=NOON) == "11月27日"
