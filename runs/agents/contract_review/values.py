"""What a quote says, as data: the day a term ends, its length, the law, the length of a notice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from runs.agents.contract_review.dates import DATE, PERIOD, first_period, parse_date, parse_period
from runs.agents.contract_review.findings import Finding

_STRAIGHT = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "\u00a0": " ", "–": "-", "—": "-"})
BLANK = re.compile(r"\[[\s*•·_.…]*\]|_{3,}|\{[^}\n]{1,60}\}|\[\s*(?:insert|date|state|name|redacted|omitted)[^\]]*\]", re.I)

_ENDS = re.compile(r"\b(?:until|through|to|on|ending|ends?|expires?|terminates?)\b(?:\W+\w+){0,4}\W+$", re.I)
_EFFECTIVE = re.compile(r"\beffective date\b", re.I)
_SIGNED = re.compile(
    r"\bdate (?:hereof|of this agreement|first (?:above )?written|of (?:its )?execution|of signing)|\b(?:upon|from) (?:its )?(?:execution|signing|signature)|\bfirst (?:above )?written above",
    re.I,
)  # fmt: skip
_OTHER_START = re.compile(r"\b(?!effective\b)(?:commencement|closing|distribution|opening|launch|delivery|acceptance|start|first commercial|approval)\s+(?:date|sale)", re.I)
_AUTOMATIC = re.compile(r"\bautomatic|\bsuccessive|\byear[- ]to[- ]year|\b(?:shall|will) (?:be )?(?:renew|extend)", re.I)
_OPEN_ENDED = re.compile(r"\bsuccessive|\bconsecutive|\byear[- ]to[- ]year|\bfor additional\b[^.]{0,40}\b(?:periods|terms)|\beach\b[^.]{0,20}\bperiods\b|\b(?:additional|further|renewal)\b[^.;]{0,60}\b(?:terms|periods)\b", re.I)
_SINGLE = re.compile(r"\b(?:one|a single)(?: \(1\))? (?:additional|further|more)\b", re.I)
_ANNUAL = re.compile(r"\bannual(?:ly)? (?:period|term)|\byear[- ]to[- ]year|\bone[- ]year\b", re.I)
_LAW = re.compile(
    r"\blaws?\s+(?:and\s+regulations\s+)?(?:of|in)\s+(?:the\s+)?(?P<of>(?:(?:State|Commonwealth|Province|Republic|Kingdom|District|People's Republic|Federal Republic)\s+of\s+)?"
    r"(?:the\s+)?[A-Z][\w'.]+(?:\s+(?:and\s+|of\s+)?[A-Z][\w'.]+){0,3})|\b(?P<name>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)\s+law\b"
)
_BEFORE_END = re.compile(r"\b(?:prior to|before|in advance of|preceding|notice)\b", re.I)


def with_value(finding: Finding) -> Finding:
    """The finding with its value read from the quote; unknown parts stay out of the value."""
    text = " ".join(finding.text.translate(_STRAIGHT).split())
    reader = _READERS.get(finding.field)
    value = dict(finding.value)
    if reader is not None:
        value.update(reader(text))
    if BLANK.search(text):
        value["blank"] = True
    return replace(finding, value=value)


def _expiration(text: str) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for match in DATE.finditer(text):
        day = parse_date(match.group())
        if day and _ENDS.search(text[: match.start()]):
            value["date"] = day.isoformat()
            break
    if "date" not in value:
        period = _term_length(text)
        if period is not None:
            value["period"] = period.as_dict()
            value["starts"] = _start(text)
    if re.search(r"\bperpetu|\bindefinite", text, re.I):
        value["perpetual"] = True
    elif not value and re.search(r"\buntil (?:\w+ ){0,3}terminated|\bunless (?:\w+ )?terminated", text, re.I):
        value["until_terminated"] = True
    return value


def _term_length(text: str) -> Any:
    """The first length that is not the length of a notice."""
    for match in PERIOD.finditer(text):
        around = text[match.end() : match.end() + 25]
        if not re.match(r"\W*(?:prior|written|advance|notice|days? notice)", around, re.I):
            return parse_period(match)
    return None


def _start(text: str) -> str:
    """From which day a term counts: `effective_date`, `agreement_date`, or `unknown` (never guessed)."""
    if _OTHER_START.search(text):
        return "unknown"
    if _EFFECTIVE.search(text):
        return "effective_date"
    return "agreement_date" if _SIGNED.search(text) else "unknown"


def _renewal(text: str) -> dict[str, Any]:
    value: dict[str, Any] = {"automatic": bool(_AUTOMATIC.search(text)) and not re.search(r"\b(?:option|right) to (?:renew|extend)|\bmay be (?:renew|extend)", text, re.I)}
    tail = re.search(r"\brenew|\bextend|\bsuccessive|\badditional|\bthereafter|\bcontinue", text, re.I)
    period = first_period(re.split(r"\b(?:unless|notice)\b", text[tail.start() :] if tail else text, maxsplit=1)[0])
    if period is None and _ANNUAL.search(text):
        period = first_period("one year")
    if period is not None:
        value["period"] = period.as_dict()
    value["times"] = "once" if _SINGLE.search(text) else "repeatedly" if _OPEN_ENDED.search(text) else "unknown"
    return value


def _notice(text: str) -> dict[str, Any]:
    best = None
    for match in PERIOD.finditer(text):
        period = parse_period(match)
        if period is None or period.unit == "year":
            continue
        near = text[max(0, match.start() - 40) : match.end() + 60]
        if _BEFORE_END.search(near):
            best = period
            break
        best = best or period
    return {"period": best.as_dict()} if best else {}


def _law(text: str) -> dict[str, Any]:
    match = _LAW.search(text) or _LAW.search(text.title().replace(" Of ", " of ").replace(" The ", " the ").replace(" Law ", " law ").replace(" Laws ", " laws "))
    if match is None:
        return {}
    return {"law": (match["of"] or match["name"]).rstrip(".,")}


def _payment(text: str) -> dict[str, Any]:
    match = re.search(r"\bwithin\b|\bnet\b", text, re.I)
    period = first_period(text[match.start() :][:60]) if match else None
    return {"period": period.as_dict()} if period else {}


_READERS = {
    "expiration": _expiration,
    "renewal": _renewal,
    "renewal_notice": _notice,
    "governing_law": _law,
    "payment_terms": _payment,
    "termination": _notice,
}
