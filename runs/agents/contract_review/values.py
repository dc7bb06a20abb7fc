"""What a quote says, as data: the day a term ends, its length, the law, the length of a notice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from runs.agents.contract_review.dates import DATE, PERIOD, first_period, parse_date, parse_period
from runs.agents.contract_review.findings import Finding

_STRAIGHT = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "\u00a0": " ", "–": "-", "—": "-"})
BLANK = re.compile(
    r"\[[\s*•·_.…]*\]|_{3,}|\{[^}\n]{1,60}\}"
    r"|\[\s*(?:insert|date|state|name|redacted|omitted)[^\]]*\]",
    re.IGNORECASE,
)

_ENDS = re.compile(
    r"\b(?:until|through|to|on|ending|ends?|expires?"
    r"|terminates?)\b(?:\W+\w+){0,4}\W+$",
    re.IGNORECASE,
)
#: What stands before the day on which something begins: "commences on", "effective as of".
_BEGINS = re.compile(
    r"\b(?:commenc\w*|begins?|beginning|starts?|starting|effective|dated|made|entered)\b"
    r"(?:\W+(?!(?:until|through|to|ending|ends?|expires?|terminates?)\b)\w+){0,3}\W+$",
    re.IGNORECASE,
)
_EFFECTIVE = re.compile(r"\beffective date\b", re.IGNORECASE)
_SIGNED = re.compile(
    r"\bdate (?:hereof|of this agreement|first (?:above )?written|of (?:its )?execution|of signing)"
        r"|\b(?:upon|from) (?:its )?(?:execution|signing|signature)|\bfirst (?:above )?written above",
    re.IGNORECASE,
)  # fmt: skip
_OTHER_START = re.compile(
    r"\b(?!effective\b)(?:commencement|closing|distribution|opening|launch|delivery|acceptance|start"
    r"|first commercial|approval)\s+(?:date|sale)",
    re.IGNORECASE,
)
_AUTOMATIC = re.compile(
    r"\bautomatic|\bsuccessive|\byear[- ]to[- ]year|\b(?:shall|will) (?:be )?(?:renew"
    r"|extend)",
    re.IGNORECASE,
)
_OPEN_ENDED = re.compile(
    r"\bsuccessive|\bconsecutive|\byear[- ]to[- ]year|\bfor additional\b[^.]{0,40}\b(?:periods|terms)"
    r"|\beach\b[^.]{0,20}\bperiods\b|\b(?:additional|further|renewal)\b[^.;]{0,60}\b(?:terms"
    r"|periods)\b",
    re.IGNORECASE,
)
_SINGLE = re.compile(r"\b(?:one|a single)(?: \(1\))? (?:additional|further|more)\b", re.IGNORECASE)
_ANNUAL = re.compile(r"\bannual(?:ly)? (?:period|term)|\byear[- ]to[- ]year|\bone[- ]year\b", re.IGNORECASE)
_LAW = re.compile(
    r"\blaws?\s+(?:and\s+regulations\s+)?(?:of|in)\s+(?:the\s+)?(?P<of>(?:(?:State|Commonwealth"
    r"|Province|Republic|Kingdom|District|People's Republic|Federal Republic)\s+of\s+)?"
    r"(?:the\s+)?[A-Z][\w'.]+(?:\s+(?:and\s+|of\s+)?[A-Z][\w'.]+){0,3})"
    r"|\b(?P<name>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)\s+law\b"
)
_NO_LAW = re.compile(
    r"^(?:any|such|the|that|governing|applicable|other)\b|\b(?:jurisdiction"
    r"|state)$",
    re.IGNORECASE,
)
_BEFORE_END = re.compile(r"\b(?:prior to|before|in advance of|preceding|notice)\b", re.IGNORECASE)


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


def _date(text: str) -> dict[str, Any]:
    match = DATE.search(text)
    day = parse_date(match.group()) if match else None
    return {"date": day.isoformat() if day else None}


def _expiration(text: str) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for match in DATE.finditer(text):
        day, before = parse_date(match.group()), text[: match.start()]
        ends = _ENDS.search(before) and not _BEGINS.search(before)
        if day and (match.group() == text or ends):
            value["date"] = day.isoformat()
            break
    if "date" not in value:
        period = _term_length(text)
        if period is not None:
            value["period"] = period.as_dict()
            value["starts"] = _start(text)
    if re.search(r"\bperpetu|\bindefinite", text, re.IGNORECASE):
        value["perpetual"] = True
    elif not value and re.search(
        r"\buntil (?:\w+ ){0,3}terminated"
        r"|\bunless (?:\w+ )?terminated",
        text,
        re.IGNORECASE,
    ):
        value["until_terminated"] = True
    return value


def _term_length(text: str) -> Any:
    """The first length that is not the length of a notice."""
    for match in PERIOD.finditer(text):
        around = text[match.end() : match.end() + 25]
        if not re.match(r"\W*(?:prior|written|advance|notice|days? notice)", around, re.IGNORECASE):
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
    value: dict[str, Any] = {
        "automatic": bool(_AUTOMATIC.search(text))
        and not re.search(
            r"\b(?:option|right) to (?:renew|extend)|\bmay be (?:renew"
            r"|extend)",
            text,
            re.IGNORECASE,
        )
    }
    tail = re.search(
        r"\brenew|\bextend|\bsuccessive|\badditional|\bthereafter"
        r"|\bcontinue",
        text,
        re.IGNORECASE,
    )
    period = first_period(
        re.split(r"\b(?:unless|notice)\b", text[tail.start() :] if tail else text, maxsplit=1)[0]
    )
    if period is None and _ANNUAL.search(text):
        period = first_period("one year")
    if period is not None:
        value["period"] = period.as_dict()
    value["times"] = (
        "once" if _SINGLE.search(text) else "repeatedly" if _OPEN_ENDED.search(text) else "unknown"
    )
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
    if text.isupper():
        text = re.sub(r"\b(Of|The|Laws?|In|And)\b", lambda match: match.group().lower(), text.title())
    before_blank = re.split(r"\blaws? of (?:the )?\[", text, maxsplit=1, flags=re.IGNORECASE)
    match = _LAW.search(before_blank[0])
    if match is None:
        return {}
    law = str(match["of"] or match["name"]).rstrip(".,")
    return {} if _NO_LAW.search(law) else {"law": law}


def _payment(text: str) -> dict[str, Any]:
    match = re.search(r"\bwithin\b|\bnet\b", text, re.IGNORECASE)
    period = first_period(text[match.start() :][:60]) if match else None
    return {"period": period.as_dict()} if period else {}


_READERS = {
    "agreement_date": _date,
    "effective_date": _date,
    "expiration": _expiration,
    "renewal": _renewal,
    "renewal_notice": _notice,
    "governing_law": _law,
    "payment_terms": _payment,
    "termination": _notice,
}
