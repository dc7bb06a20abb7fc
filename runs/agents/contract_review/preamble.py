"""The opening of a contract: its name, its parties, its dates.

English-language contracts open alike: a title, then "This … Agreement (the "Agreement") is made as of DATE
(the "Effective Date") by and between NAME, a STATE company ("Alias"), and NAME …", then the recitals. Older
and Asian forms list the parties with labels instead. The rules follow these shapes and read nothing else.
"""

from __future__ import annotations

import re

from runs.agents.contract_review.dates import DATE
from runs.agents.contract_review.findings import Finding
from runs.agents.contract_review.names import is_company, joined_name, leading_names
from runs.agents.contract_review.view import View

_REACH = 30_000
"""How far into the text an opening may stand: covers and tables of contents come first."""

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
_SMALL = frozenset(
    {
        "a",
        "an",
        "and",
        "as",
        "by",
        "for",
        "from",
        "in",
        "of",
        "on",
        "or",
        "the",
        "to",
        "with",
        "&",
        "re",
        "no.",
    }
)
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
_BETWEEN = re.compile(
    r"\b(?:by\s+and\s+)?(?:between|among"
    r"|amongst)\b(?:\s+and\s+among\b)?\s*(?:the\s+following\s+parties)?\s*:?",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"\b(?:WHEREAS|RECITALS?|WITNESSETH|W\s*I\s*T\s*N\s*E\s*S\s*S\s*E\s*T\s*H|BACKGROUND"
    r"|PRELIMINARY\s+STATEMENTS?|INTRODUCTION"
    r"|NOW,?\s+THEREFORE|ARTICLE\s+[IVX1]|SECTION\s+1|DEFINITIONS)\b"
    r"|\b[Tt]he\s+[Pp]arties\s+(?:hereto\s+)?(?:hereby\s+)?agree"
)
_LABELLED = re.compile(
    r"^[ ]*(?P<label>Party\s+[A-D]|Licensor|Licensee|Seller|Buyer|Purchaser|Lessor|Lessee|Landlord"
    r"|Tenant|Customer|Provider"
    r"|Vendor|Supplier|Client|Consultant|Contractor|Franchisor|Franchisee"
    r"|Distributor)\s*(?:\(\s*\"(?P<alias>[^\"\n]{2,40})\"\s*\))?\s*:",
    re.MULTILINE,
)
_NEXT_LABEL = re.compile(r"\n\s*(?:[A-Z][\w ]{2,30}:|\n)")
_ALIAS = re.compile(
    r"\((?:[^()\"]{0,160}?)\"(?P<quoted>[^\"()]{1,60}?)[,.]?\"[^()]{0,160}\)"
    r"|\((?:the|hereinafter(?:\s+(?:called"
    r"|referred\s+to\s+as))?(?:\s+the)?)\s+(?P<bare>[A-Z][\w&. -]{1,40})\)"
    r"|,?\s+hereinafter\s+(?:called|referred\s+to\s+as)\s+(?:the\s+)?\"(?P<called>[^\"]{1,60})\""
    r"|,?\s+as\s+(?:the\s+)?(?P<role>[A-Z][a-z]+(?:\s+[A-Z][a-z]+)?)(?=\s*[,;.]|\s+and\b|\s*$)"
)
_NO_PARTY = re.compile(
    r"^(?:the\s+)?(?:this\s+)?(?:agreement|contract|effective\s+date|part(?:y|ies)"
    r"|commencement\s+date|services?|products?|term|plan"
    r"|shares?|.*\b(?:agreement|date|act|plan|property|project|shares|software|products?|services)\b)$",
    re.IGNORECASE,
)
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
_EFFECTIVE_MEANS = re.compile(
    r"\"Effective\s+Date\"\s+(?:shall\s+)?(?:mean|is|be)s?\b[^.;]{3,240}[.;]?", re.IGNORECASE
)
_COMES_INTO_FORCE = re.compile(
    r"\b(?:this\s+)?agreement\s+(?:shall|will)?\s*(?:become|be|is|enter\s+into"
        r"|come\s+into)\s+(?:effective|effect|force)\s+(?:as\s+of|on|from)\s+", re.IGNORECASE
)  # fmt: skip


def read_opening(view: View) -> list[Finding]:
    """Findings for document name, parties, agreement date and effective date."""
    start, end = _opening(view)
    return [*_document_name(view, start), *_parties(view, start, end), *_dates(view, start, end)]


def _finding(
    view: View, name: str, start: int, end: int, confidence: float, **value: object
) -> Finding | None:
    start, end = view.quote(start, end)
    if end <= start:
        return None
    text = view.document.text[start:end]
    return Finding(name, text, start, end, view.document.page_at(start), dict(value), confidence)


def _opening(view: View) -> tuple[int, int]:
    """Where the sentence that names date and parties starts, and where the body begins."""
    text = view.text[:_REACH]
    best: tuple[int, int, int] | None = None
    for match in _OPENING.finditer(text):
        window = text[match.end() : match.end() + 400]
        if not _OPENS.search(text[match.start() : match.end()] + window):
            continue
        body = _BODY.search(text, match.end())
        end = min(body.start() if body else len(text), match.start() + 4000)
        named = sum(
            1 for alias in _ALIAS.finditer(text, match.start(), end) if not _NO_PARTY.match(_alias(alias))
        )
        score = (
            min(named, 3) * 2
            + bool(_BETWEEN.search(window))
            + bool(DATE.search(text, match.start(), match.end() + 300))
        )
        if best is None or score > best[0]:
            best = (score, match.start(), end)
        if score >= 6:
            break
    if best is not None and best[0] >= 3:
        return best[1], best[2]
    between = _BETWEEN.search(text[:6000])
    start = max(0, between.start() - 200) if between else 0
    return start, min(start + 2500, len(text))


def _alias(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None).strip()


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
        found = _finding(view, "document_name", start, end, 0.95)
        return [found] if found else []
    match_ = re.search(
        rf"\bthis\s+((?:[\w&'/-]+\s+){{0,10}}?{_KIND})\b", view.text[opening : opening + 400], re.IGNORECASE
    )
    if match_ is None:
        match_ = re.compile(rf"\s*({_KIND})\b(?=\s+(?:made|dated|entered|between|by))", re.IGNORECASE).match(
            view.text[opening : opening + 400]
        )
    if match_:
        found = _finding(view, "document_name", opening + match_.start(1), opening + match_.end(1), 0.7)
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


def _parties(view: View, start: int, end: int) -> list[Finding]:
    found = _labelled_parties(view, end)
    if len(found) < 2:
        found = _listed_parties(view, start, end)
    if len(found) < 2:
        cover = _BETWEEN.search(view.text[:5000])
        if cover:
            listed = _names_in(view, cover.end(), min(cover.end() + 600, len(view.text)), need_alias=False)
            found = listed if len(listed) > len(found) else found
    return found


def _labelled_parties(view: View, end: int) -> list[Finding]:
    found: list[Finding] = []
    for match in _LABELLED.finditer(view.clean[: min(max(end, 2500), 6000)]):
        lines = _NEXT_LABEL.split(view.clean[match.end() : match.end() + 200])[0]
        for a, b in leading_names(lines.replace("\n", " "))[:1]:
            alias = match["alias"] or match["label"]
            finding = _finding(view, "parties", match.end() + a, match.end() + b, 0.85, alias=alias)
            found += [finding] if finding else []
    return found[:6]


def _listed_parties(view: View, start: int, end: int) -> list[Finding]:
    between = _BETWEEN.search(view.text, start, min(end, start + 1200))
    first = between.end() if between else start
    return _names_in(view, first, end, need_alias=between is None)


def _names_in(view: View, start: int, end: int, *, need_alias: bool) -> list[Finding]:
    """Names that stand before each alias; without an opening "between", anywhere before it."""
    found: list[Finding] = []
    seen: set[str] = set()
    at = start
    marks = list(_ALIAS.finditer(view.text, start, end))
    chunks = [
        (at_, mark.start(), _alias(mark))
        for at_, mark in zip([at, *[m.end() for m in marks]], marks, strict=False)
    ]
    if not need_alias and (not marks or marks[0].start() - start > 900):
        chunks, marks = [(start, min(end, start + 500), "")], []
    else:
        chunks += [(marks[-1].end(), min(end, marks[-1].end() + 200), "")] if marks and not need_alias else []
    for first, last, alias in chunks:
        if alias and _NO_PARTY.match(alias):
            continue
        names = leading_names(view.text[first:last], anywhere=need_alias)
        if not alias and marks:
            names = joined_name(view.text[first:last])
        for a, b in names if not need_alias else names[-1:]:
            finding = _finding(view, "parties", first + a, first + b, 0.9 if alias else 0.6, alias=alias)
            key = view.text[first + a : first + b].lower()
            if finding and key not in seen:
                seen.add(key)
                found.append(finding)
    return found[:8]


def _dates(view: View, start: int, end: int) -> list[Finding]:
    text = view.text
    limit = min(end, start + 900)
    dates = list(DATE.finditer(text, start, limit))
    agreement = next((m for m in dates if _DATED.search(text[max(start, m.start() - 60) : m.start()])), None)
    if agreement is None:
        agreement = _cover_date(view, start) or _signing_date(view)
    effective = next((m for m in dates if _is_effective(text, m)), None)
    found = [
        _date_finding(view, "agreement_date", agreement.span() if agreement else None, 0.9),
        _date_finding(
            view, "effective_date", effective.span() if effective else _defined_effective(view), 0.9
        ),
    ]
    return [finding for finding in found if finding is not None]


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
    label = re.search(r"\bEffective\s+Date\s*:\s*", view.text[:_REACH], re.IGNORECASE)
    inner = DATE.match(view.text, label.end()) if label else None
    return inner.span() if inner else None


def _date_finding(view: View, name: str, place: tuple[int, int] | None, confidence: float) -> Finding | None:
    if place is None:
        return None
    return _finding(view, name, place[0], place[1], confidence)
