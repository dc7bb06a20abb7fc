"""Dates and periods: read as written, never guessed."""

from __future__ import annotations

from datetime import date

import pytest

from runs.agents.contract_review.dates import DATE, Period, first_period, parse_date


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("19th day of December, 2018", date(2018, 12, 19)),
        ("Feb 10, 2014", date(2014, 2, 10)),
        ("October 1st, 2006", date(2006, 10, 1)),
        ("30 December 2016", date(2016, 12, 30)),
        ("2019-05-31", date(2019, 5, 31)),
        ("12/31/2020", date(2020, 12, 31)),
        ("31/12/2020", date(2020, 12, 31)),
        ("2024年3月5日", date(2024, 3, 5)),
        ("17th  day of\nSeptember,   1997", date(1997, 9, 17)),
    ],
)
def test_day_is_found_and_read(text: str, day: date) -> None:
    match = DATE.search(f"made on {text} by")
    assert match is not None
    assert match.group() == text
    assert parse_date(match.group()) == day


@pytest.mark.parametrize(
    "text", ["[•], 2020", "___ day of May, 2019", "March 2020", "03/04/2020", "February 30, 2020"]
)
def test_blank_ambiguous_or_impossible_is_unknown(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("five (5) years following", Period(5, "year")),
        ("ninety (90) days", Period(90, "day")),
        ("12 months", Period(12, "month")),
        ("ten business days", Period(10, "day", True)),
        ("one-year", Period(1, "year")),
        ("twenty-four months", Period(24, "month")),
        ("one hundred and twenty days", Period(120, "day")),
    ],
)
def test_period_is_read(text: str, period: Period) -> None:
    assert first_period(f"for {text} after") == period


def test_months_end_where_the_month_ends() -> None:
    assert Period(1, "month").after(date(2024, 1, 31)) == date(2024, 2, 29)
    assert Period(3, "month").before(date(2024, 5, 31)) == date(2024, 2, 29)
