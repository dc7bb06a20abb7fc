"""The day a contract was made and the day it takes effect, as quoted dates."""

from __future__ import annotations

import re

from runs.agents.contract_review.dates import DATE
from runs.agents.contract_review.findings import Finding
from runs.agents.contract_review.view import View, quoted

REACH = 30_000
"""How far into the text an opening may stand: covers and tables of contents come first."""
_WITNESS = re.compile(r"\bIN WITNESS (?:WHEREOF|THEREOF|HEREOF)\b")
_MEANS_BACKWARDS = re.compile(
    r"(?:(?<=[.;] )|^)[A-Z][^.;]{10,240}\bshall be (?:deemed |referred to as )?(?:to be )?"
    r"the \"Effective Date\"[^.;]{0,60}[.;]"
)
_OWN_LINE = re.compile(r"\s*(?:(?:\w+\s+)?dated?\b[^.]{0,30}|as\s+of\s+)?:?\s*", re.IGNORECASE)
_DATE_LABEL = re.compile(r"(?:execution|agreement|contract|signing)\s+date\s*:\s*$", re.IGNORECASE)
_EFFECTIVE = re.compile(r"\s*[,)]?\s*\((?:[^()\"]{0,60})\"?Effective\s+Date\"?", re.IGNORECASE)
_EFFECTIVE_BEFORE = re.compile(
    r"\beffective\s+(?:date\s*:?\s*)?(?:as\s+of\s+)?(?:on\s+)?(?:the\s+)?(?:this\s+)?\"?\s*$", re.IGNORECASE
)
_DATED = re.compile(
    r"\b(?:dated|as\s+of|made|entered|executed|effective|on|this|date"
    r"|signed)\b\W*(?:\w+\W+){0,4}$",
    re.IGNORECASE,
)
_OTHER_CONTRACT = re.compile(
    r"\b(?:to|under|pursuant\s+to|that\s+certain|amends)\s+(?:the\s+)?[^.;]{0,70}\b(?:agreement|contract|lease|plan)\b"
    r"[^.;\"]{0,20}\b(?:dated|made|entered|as\s+of)\b[^.;]{0,20}$",
    re.IGNORECASE,
)
_EFFECTIVE_MEANS = re.compile(
    r"\"Effective\s+Date\"\s+(?:shall\s+)?(?:mean|is|be)s?\b[^.;]{3,240}[.;]?", re.IGNORECASE
)
_COMES_INTO_FORCE = re.compile(
    r"\b(?:this\s+)?agreement\s+(?:shall|will)?\s*(?:become|be|is|enter\s+into"
        r"|come\s+into)\s+(?:effective|effect|force)\s+(?:as\s+of|on|from)\s+", re.IGNORECASE
)  # fmt: skip


def read_dates(view: View, start: int, end: int) -> list[Finding]:
    text = view.text
    limit = min(end, start + 900)
    dates = list(DATE.finditer(text, start, limit))
    agreement = next((m for m in dates if _is_signing(text[max(start, m.start() - 120) : m.start()])), None)
    if agreement is None:
        agreement = _cover_date(view, start) or _signing_date(view)
    effective = next((m for m in dates if _is_effective(text, m)), None)
    found = [
        _quote_date(view, "agreement_date", agreement.span() if agreement else None, 0.9),
        _quote_date(view, "effective_date", effective.span() if effective else _defined_effective(view), 0.9),
    ]
    return [finding for finding in found if finding is not None]


def _is_signing(before: str) -> bool:
    """Whether what stands before a date says that the contract was made on it, not one that it mentions."""
    return bool(_DATED.search(before[-60:])) and not _OTHER_CONTRACT.search(before)


def _is_effective(text: str, match: re.Match[str]) -> bool:
    return bool(
        _EFFECTIVE.match(text, match.end())
        or _EFFECTIVE_BEFORE.search(text[max(0, match.start() - 40) : match.start()])
    )


def _cover_date(view: View, opening: int) -> re.Match[str] | None:
    """A date on the cover: on a line of its own, or after the word "dated"."""
    for match in DATE.finditer(view.clean, 0, max(opening, 2500)):
        line = view.clean[view.clean.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _OWN_LINE.fullmatch(line) or _DATE_LABEL.search(line):
            return match
    return None


def _signing_date(view: View) -> re.Match[str] | None:
    """The date in the sentence before the signatures."""
    witness = _WITNESS.search(view.text)
    return DATE.search(view.text, witness.end(), witness.end() + 300) if witness else None


def _defined_effective(view: View) -> tuple[int, int] | None:
    """A date that is said to be the effective one elsewhere: a definition, or "shall become effective on"."""
    for match in _EFFECTIVE_MEANS.finditer(view.text):
        inner = DATE.search(match.group())
        if inner:
            return match.start() + inner.start(), match.start() + inner.end()
        if (
            re.search(r"\b(?:sign|execut|last|date)", match.group()[18:], re.IGNORECASE)
            and "meaning" not in match.group()
        ):
            return match.span()
    backwards = _MEANS_BACKWARDS.search(view.text)
    if backwards:
        return backwards.span()
    for match in _COMES_INTO_FORCE.finditer(view.text):
        inner = DATE.match(view.text, match.end())
        if inner:
            return inner.span()
    label = re.search(r"\bEffective\s+Date\s*:\s*", view.text[:REACH], re.IGNORECASE)
    inner = DATE.match(view.text, label.end()) if label else None
    return inner.span() if inner else None


def _quote_date(view: View, name: str, place: tuple[int, int] | None, confidence: float) -> Finding | None:
    if place is None:
        return None
    return quoted(view, name, place[0], place[1], confidence)
