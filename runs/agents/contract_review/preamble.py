"""Where a contract opens, and its name.

English-language contracts open alike: a title, then "This … Agreement (the "Agreement") is made as of DATE
(the "Effective Date") by and between NAME, a STATE company ("Alias"), and NAME …", then the recitals. Older
and Asian forms list the parties with labels instead. The rules follow these shapes and read nothing else.
"""

from __future__ import annotations

import re

from runs.agents.contract_review.dates import DATE
from runs.agents.contract_review.findings import Finding
from runs.agents.contract_review.names import is_company
from runs.agents.contract_review.opening_dates import REACH, read_dates
from runs.agents.contract_review.parties import BETWEEN, count_parties, read_parties
from runs.agents.contract_review.view import View, quoted

_KIND = (
    r"(?:AGREEMENT|CONTRACT|LEASE|LICEN[CS]E|AMENDMENT|ADDENDUM|INDENTURE"
    r"|MEMORANDUM\s+OF\s+UNDERSTANDING|PLAN|GUARANTY)"
)
_TITLE_KEY = re.compile(rf"\b{_KIND}\b", re.IGNORECASE)
_NOT_TITLE = re.compile(
    r"\b(?:exhibit|schedule|annex|appendix|confidential treatment|omitted|redacted|table of contents"
    r"|whereas|hereby|copy"
    r"|filed|pursuant|between|among|http|dated|signature|certain information)\b|[:;]|\.$|\d{4}",
    re.IGNORECASE,
)
_ARTICLES = ("a", "an", "the", "and", "or", "&", "re", "no.")
_PREPOSITIONS = ("as", "by", "for", "from", "in", "of", "on", "to", "with")
_SMALL = frozenset(_ARTICLES + _PREPOSITIONS)
_LEADS_TITLE = re.compile(r"\s*(?:EXHIBIT\s+\d[\w.()-]*[\s:]+)?(?:FORM\s+OF\s+)?", re.IGNORECASE)
_AFTER_TITLE = re.compile(r"\s+(?:by\s+and\s+)?(?:between|among|dated)\b", re.IGNORECASE)
_JOINS = re.compile(r"(?:\b(?:AND|OF|FOR|THE|&)|,|RESTATED)$", re.IGNORECASE)
_BARE = re.compile(r"(?:[\"(]?AGREEMENT[\")]?|CONTRACT|(?:AND|OF|FOR|&)\s.*)$", re.IGNORECASE)
_OPENING = re.compile(
    rf"(?:\bthis\s+(?:[\w&'/,.()-]+\s+){{0,12}}?{_KIND}\b"
    rf"|\b{_KIND}\b[,\s]*\([^)]{{0,60}}\"[^)]{{0,80}}\)|\bthe\s+undersigned\b"
    rf"|\b(?:this|the)\s+\"?{_KIND}\"?\s*\))",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"\b(?:dated|made|entered\s+into|effective|executed|concluded|by\s+and\s+(?:between|among)"
    r"|between|among|undersigned)\b",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"\b(?:WHEREAS|RECITALS?|WITNESSETH|W\s*I\s*T\s*N\s*E\s*S\s*S\s*E\s*T\s*H|BACKGROUND"
    r"|PRELIMINARY\s+STATEMENTS?|INTRODUCTION"
    r"|NOW,?\s+THEREFORE|ARTICLE\s+[IVX1]|SECTION\s+1|DEFINITIONS)\b"
    r"|\b[Tt]he\s+[Pp]arties\s+(?:hereto\s+)?(?:hereby\s+)?agree"
)


def read_opening(view: View) -> list[Finding]:
    """Findings for document name, parties, agreement date and effective date."""
    start, end = _opening(view)
    return [*_document_name(view, start), *read_parties(view, start, end), *read_dates(view, start, end)]


def _opening(view: View) -> tuple[int, int]:
    """Where the sentence that names date and parties starts, and where the body begins."""
    text = view.text[:REACH]
    best: tuple[int, int, int] | None = None
    for match in _OPENING.finditer(text):
        window = text[match.end() : match.end() + 400]
        if not _OPENS.search(text[match.start() : match.end()] + window):
            continue
        body = _BODY.search(text, match.end())
        end = min(body.start() if body else len(text), match.start() + 4000)
        named = count_parties(view, match.start(), end)
        score = (
            min(named, 3) * 2
            + bool(BETWEEN.search(window))
            + bool(DATE.search(text, match.start(), match.end() + 300))
        )
        if best is None or score > best[0]:
            best = (score, match.start(), end)
        if score >= 6:
            break
    if best is not None and best[0] >= 3:
        return best[1], best[2]
    between = BETWEEN.search(text[:6000])
    start = max(0, between.start() - 200) if between else 0
    return start, min(start + 2500, len(text))


def _document_name(view: View, opening: int) -> list[Finding]:
    """The first line that looks like a title, joined with the line before when it only continues it."""
    lines = list(re.finditer(r"[^\n]+", view.clean[: max(opening + 400, 3000)]))
    for index, match in enumerate(lines[:80]):
        start, end = match.span()
        start += _before_title(match.group())
        after = _AFTER_TITLE.search(view.clean, start, end)
        end = after.start() if after else end
        line = view.clean[start:end].strip()
        if not _is_title(line) or not _TITLE_KEY.search(line) or is_company(line):
            continue
        if index and _continues(lines[index - 1].group().strip(), line):
            start = lines[index - 1].start()
            start += _before_title(view.clean[start:end])
        found = quoted(view, "document_name", start, end, 0.95)
        return [found] if found else []
    match_ = re.search(
        rf"\bthis\s+((?:[\w&'/-]+\s+){{0,10}}?{_KIND})\b", view.text[opening : opening + 400], re.IGNORECASE
    )
    if match_ is None:
        match_ = re.compile(rf"\s*({_KIND})\b(?=\s+(?:made|dated|entered|between|by))", re.IGNORECASE).match(
            view.text[opening : opening + 400]
        )
    if match_:
        found = quoted(view, "document_name", opening + match_.start(1), opening + match_.end(1), 0.7)
        return [found] if found else []
    return []


def _before_title(text: str) -> int:
    """How many characters a number of an exhibit and the words "Form of" take before a title."""
    match = _LEADS_TITLE.match(text)
    return match.end() if match else 0


def _is_title(line: str) -> bool:
    words = line.split()
    if not 1 <= len(words) <= 16 or len(line) > 120 or _NOT_TITLE.search(line):
        return False
    return all(word.lower() in _SMALL or not word[:1].islower() for word in words) and not line[0].islower()


def _continues(before: str, line: str) -> bool:
    """Whether a title starts on the line before: that one ends open, or this one cannot stand alone."""
    if not before or not _is_title(before):
        return False
    return bool(_JOINS.search(before)) or (bool(_BARE.match(line)) and before.isupper() == line.isupper())
