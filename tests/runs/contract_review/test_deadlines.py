"""When something has to be done, how it was computed, and when it is said to be unknown."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from runs.agents.contract_review.deadlines import deadlines_of, most_urgent_deadline
from tests.runs.contract_review import make


def days(text: str, today: date) -> dict[str, Any]:
    found = deadlines_of(make.review(text)["findings"], today)
    return {deadline.kind: deadline for deadline in found}


def test_end_and_notice_are_computed_from_what_is_stated() -> None:
    found = days(make.CONTRACT, date(2026, 1, 1))
    assert found["expiry"].day == "2027-03-01"
    assert found["expiry"].how == "2025-03-01 (start of the term) plus 2 years is 2027-03-01."
    assert found["non_renewal_notice"].day == "2026-12-01"
    assert found["non_renewal_notice"].how == "2027-03-01 (end of the term) minus 90 days is 2026-12-01."


def test_a_renewed_term_is_followed_to_the_one_that_runs() -> None:
    found = days(make.CONTRACT, date(2029, 6, 1))
    assert found["expiry"].day == "2030-03-01"
    assert found["expiry"].params["renewals"] == 3
    assert found["non_renewal_notice"].day == "2029-12-01"
    assert not found["expiry"].passed


def test_a_term_that_renews_once_stays_ended() -> None:
    text = make.CONTRACT.replace("successive one (1) year periods", "one (1) additional one (1) year period")
    found = days(text, date(2029, 6, 1))
    assert found["expiry"].day == "2028-03-01"
    assert found["expiry"].passed


def test_a_renewal_notice_in_business_days_is_not_guessed() -> None:
    notice = days(make.CONTRACT.replace("ninety (90) days", "ninety (90) business days"), date(2026, 1, 1))[
        "non_renewal_notice"
    ]
    assert notice.day is None
    assert notice.code == "business_days"


@pytest.mark.parametrize(
    ("term", "code", "day"),
    [
        ("This Agreement shall expire on December 31, 2028.", "named", "2028-12-31"),
        (
            "The term of this Agreement commences on the Effective Date and continues in perpetuity.",
            "perpetual",
            None,
        ),
        (
            "The initial term of this Agreement shall continue for two years from the Commencement Date.",
            "no_start",
            None,
        ),
        (
            "This Agreement shall commence on the Effective Date and be valid until the [* * *].",
            "no_length",
            None,
        ),
        ("This Agreement shall remain in effect until the Project is completed.", "no_length", None),
    ],
)
def test_first_end(term: str, code: str, day: str | None) -> None:
    head, tail = make.CONTRACT.split("1. Term. ")
    text = f"{head}1. Term. {term}\n\n2. Payment.{tail.split('2. Payment.')[1]}"
    found = days(text, date(2026, 1, 1))["expiry"]
    assert (found.code, found.day) == (code, day)


def test_a_blank_start_makes_the_end_unknown() -> None:
    found = days(make.CONTRACT.replace("March 1, 2025", "[•], 2025"), date(2026, 1, 1))["expiry"]
    assert (found.code, found.day) == ("no_start", None)


def test_most_urgent_is_the_soonest_that_has_not_passed() -> None:
    listed: list[dict[str, Any]] = [
        {"kind": "expiry", "day": "2025-01-01"},
        {"kind": "expiry", "day": "2027-01-01"},
        {"kind": "non_renewal_notice", "day": "2027-01-01"},
        {"kind": "expiry", "day": None},
        {"kind": "expiry", "day": "2028-01-01"},
    ]
    assert most_urgent_deadline(listed, date(2026, 1, 1)) == listed[2]
    assert most_urgent_deadline(listed[:1], date(2026, 1, 1)) is None
    assert most_urgent_deadline(listed[:1], date(2025, 1, 1)) == listed[0]


@pytest.mark.parametrize(
    ("term", "end"),
    [
        ("This Agreement commences on 1 March 2026 and shall continue until 28 February 2027.", "2027-02-28"),
        ("This Agreement begins on 1 March 2026 and expires on 28 February 2027.", "2027-02-28"),
        ("This Agreement is effective as of 1 March 2026 through 28 February 2027.", "2027-02-28"),
        ("This Agreement shall remain in force until 28 February 2027.", "2027-02-28"),
    ],
)
def test_the_day_on_which_it_begins_is_not_the_end(term: str, end: str) -> None:
    """Guards values.py `_BEGINS`: a notice that names the first day as the last would be false."""
    text = make.CONTRACT.replace(
        next(line for line in make.CONTRACT.splitlines() if "years" in line and "erm" in line),
        f"2. Term. {term}",
    )
    assert days(text, date(2026, 4, 1))["expiry"].day == end
