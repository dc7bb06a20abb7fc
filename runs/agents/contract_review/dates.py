"""Dates and periods as contracts write them, and what they mean.

A date with a blank (`[•], 2020`, `____ day of May, 2019`) is found and quoted, but has no value: nothing
is ever guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from dateutil import parser
from dateutil.relativedelta import relativedelta

_MONTH = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|\.)?"
    r"|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)"
)
_BLANK = r"(?:\[[^\]\n]{0,40}\]|_{2,40}|\{[^}\n]{1,60}\}|[•·]{1,20}|\.{4,40})"
_DAY = rf"(?:\d{{1,2}}\s?(?:st|nd|rd|th|s\s?t|n\s?d|r\s?d|t\s?h)?|{_BLANK}\s?(?:st|nd|rd|th)?)"
_YEAR = rf"(?:(?:19|20)\d\d|(?:19|20)_+|(?:19|20)\s?\[[^\]\n]{{0,20}}\]|{_BLANK})"
_FULL_YEAR = r"(?:19|20)\d\d"

DATE = re.compile(
    rf"(?:{_DAY}\s+day\s+of\s+(?:{_MONTH}|{_BLANK})\s*,?\s*(?:in\s+the\s+year\s+)?{_YEAR}"
    rf"|{_MONTH}\s+{_DAY}\s*,?\s*{_YEAR}"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}\s*,?\s*{_FULL_YEAR}"
    rf"|{_MONTH}\s*,?\s+{_FULL_YEAR}"
    rf"|{_BLANK}\s*,\s*{_FULL_YEAR}"
    r"|\b\d{1,2}[/.]\d{1,2}[/.](?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d-\d{2}-\d{2}\b"
    r"|\b(?:19|20)\d\d\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日)",
    re.IGNORECASE,
)

_WORDS = {
    word: number
    for number, words in {
        1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
        10: "ten", 11: "eleven", 12: "twelve", 15: "fifteen", 18: "eighteen", 20: "twenty",
        24: "twenty-four", 30: "thirty", 36: "thirty-six", 45: "forty-five", 60: "sixty", 90: "ninety",
        120: "one hundred twenty|one hundred and twenty",
        180: "one hundred eighty|one hundred and eighty",
    }.items()
    for word in words.split("|")
}  # fmt: skip
_NUMBER = "|".join(
    sorted((word.replace(" ", r"\s+").replace("-", r"[-\s]") for word in _WORDS), key=len, reverse=True)
)
PERIOD = re.compile(
    rf"(?:\b(?P<word>{_NUMBER})\b\s*(?:\(\s*(?P<paren>\d{{1,4}})\s*\))?"
        rf"|\b(?P<digits>\d{{1,4}})\b(?:\s*\(\s*\d{{1,4}}\s*\))?)"
    r"[\s-]*(?:full\s+|consecutive\s+|additional\s+|calendar\s+|successive\s+)*"
    r"(?P<business>business\s+|working\s+)?(?P<unit>day|week|month|year|annual)s?\b'?",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Period:
    """A length of time as written: `count` of `unit` (`day`, `week`, `month`, `year`)."""

    count: int
    unit: str
    business: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"count": self.count, "unit": self.unit, "business": self.business}

    def __str__(self) -> str:
        """Such as `90 days`."""
        return (
            f"{self.count} {'business ' if self.business else ''}{self.unit}{'' if self.count == 1 else 's'}"
        )

    @property
    def days(self) -> int:
        """About how many days, to compare lengths; never to compute a date."""
        return self.count * {"day": 1, "week": 7, "month": 30, "year": 365}[self.unit]

    def after(self, day: date) -> date:
        """The same day this much later; the 31st becomes the last day of a shorter month."""
        return day + self._delta()

    def before(self, day: date) -> date:
        """The day this much earlier."""
        return day - self._delta()

    def _delta(self) -> relativedelta:
        return relativedelta(**{f"{self.unit}s": self.count})  # type: ignore[arg-type]


def parse_date(text: str) -> date | None:
    """The day that `text` names, or None if any part of it is blank or two readings are possible."""
    squeezed = re.sub(
        r"\b(\d{1,2})\s?(?:s\s?t|n\s?d|r\s?d|t\s?h)\b", r"\1", " ".join(text.split()), flags=re.IGNORECASE
    )
    chinese = re.match(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日", squeezed)
    if chinese:
        return _day(*(int(part) for part in chinese.groups()))
    if re.search(r"[\[\]_{}•·]|\.{4,}", squeezed):
        return None
    numeric = re.match(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})$", squeezed)
    if numeric:
        first, second, year = (int(part) for part in numeric.groups())
        if first > 12 >= second:
            return _day(year, second, first)
        return _day(year, first, second) if second > 12 or first == second else None
    if not re.search(r"\d{1,2}\D+\d{4}|\d{4}-\d\d-\d\d", squeezed):
        return None
    try:
        return parser.parse(re.sub(r"\bday of\b", "", squeezed, flags=re.IGNORECASE)).date()
    except (ValueError, OverflowError):
        return None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def parse_period(match: re.Match[str]) -> Period | None:
    """The period of a `PERIOD` match; a number in brackets wins over the word before it."""
    if match["paren"] or match["digits"]:
        count = int(match["paren"] or match["digits"])
    else:
        count = _WORDS.get(re.sub(r"\s+", " ", match["word"].lower()), 0) or _WORDS.get(
            re.sub(r"\s+", "-", match["word"].lower()), 0
        )
    unit = match["unit"].lower()
    if not count:
        return None
    return Period(count, "year" if unit == "annual" else unit, bool(match["business"]))


def first_period(text: str) -> Period | None:
    """The first period in `text`, if any."""
    for match in PERIOD.finditer(text):
        period = parse_period(match)
        if period is not None:
            return period
    return None
