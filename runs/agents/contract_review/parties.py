"""The parties: names that stand before an alias, after a "between", or behind a label."""

from __future__ import annotations

import re

from runs.agents.contract_review.findings import Finding
from runs.agents.contract_review.names import joined_name, leading_names
from runs.agents.contract_review.view import View, quoted

BETWEEN = re.compile(
    r"\b(?:by\s+and\s+)?(?:between|among"
    r"|amongst)\b(?:\s+and\s+among\b)?\s*(?:the\s+following\s+parties)?\s*:?",
    re.IGNORECASE,
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


def read_parties(view: View, start: int, end: int) -> list[Finding]:
    found = _labelled_parties(view, end)
    if len(found) < 2:
        found = _listed_parties(view, start, end)
    if len(found) < 2:
        cover = BETWEEN.search(view.text[:5000])
        if cover:
            listed = _names_in(view, cover.end(), min(cover.end() + 600, len(view.text)), need_alias=False)
            found = listed if len(listed) > len(found) else found
    return found


def count_parties(view: View, start: int, end: int) -> int:
    """How many aliases of parties are defined in a stretch."""
    return sum(1 for alias in _ALIAS.finditer(view.text, start, end) if not _NO_PARTY.match(_alias(alias)))


def _labelled_parties(view: View, end: int) -> list[Finding]:
    found: list[Finding] = []
    for match in _LABELLED.finditer(view.clean[: min(max(end, 2500), 6000)]):
        lines = _NEXT_LABEL.split(view.clean[match.end() : match.end() + 200])[0]
        for a, b in leading_names(lines.replace("\n", " "))[:1]:
            alias = match["alias"] or match["label"]
            finding = quoted(view, "parties", match.end() + a, match.end() + b, 0.85, alias=alias)
            found += [finding] if finding else []
    return found[:6]


def _listed_parties(view: View, start: int, end: int) -> list[Finding]:
    between = BETWEEN.search(view.text, start, min(end, start + 1200))
    first = between.end() if between else start
    return _names_in(view, first, end, need_alias=between is None)


def _names_in(view: View, start: int, end: int, *, need_alias: bool) -> list[Finding]:
    """Names that stand before each alias; without an opening "between", anywhere before it."""
    found: list[Finding] = []
    seen: set[str] = set()
    at = start
    marks = list(_ALIAS.finditer(view.text, start, end))
    if all(_NO_PARTY.match(_alias(mark)) for mark in marks):
        marks = []
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
        if not marks and len(names) == 1:
            names = _pair(view.text[first:last], *names[0])
        for a, b in names if not need_alias else names[-1:]:
            finding = quoted(view, "parties", first + a, first + b, 0.9 if alias else 0.6, alias=alias)
            key = view.text[first + a : first + b].lower()
            if finding and key not in seen:
                seen.add(key)
                found.append(finding)
    return found[:8]


def _pair(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The two names of "A and B" when nothing but the "and" tells them apart: a contract has two parties."""
    middle = re.search(r"\s+(?:and|AND)\s+", text[start:end])
    if middle is None:
        return [(start, end)]
    return [(start, start + middle.start()), (start + middle.end(), end)]


def _alias(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None).strip()
