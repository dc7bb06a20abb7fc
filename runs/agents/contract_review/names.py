"""Names of companies and people at the start of a stretch of text."""

from __future__ import annotations

import re

_SUFFIX = re.compile(
    r"^(?:Inc|Incorporated|LLC|L\.L\.C|Ltd|Limited|Co|Corp|Corporation|Company|LP|L\.P|LLP|L\.L\.P|PLC|plc|N\.A|AG|GmbH|S\.A|SA|S\.p\.A"
    r"|B\.V|BV|N\.V|NV|AB|A/S|AS|Oy|KG|KK|K\.K|Pty|Pte|SE|SAS|S\.A\.S|S\.r\.l|SARL|S\.à|P\.C|PC|Trust|Fund|Bank|Association)\.?,?$",
    re.I,
)
_SMALL = frozenset({"of", "and", "the", "de", "for", "du", "van", "von", "der", "d/b/a", "dba", "&", "in", "y", "e", "la", "del", "f/k/a"})
_LEAD = re.compile(
    r"^[\s,;:.)\-]*(?:(?:and|between|among|by|on\s+the\s+one\s+hand|on\s+the\s+other\s+hand|the\s+undersigned|is|are|each\s+of)\b[\s,;:]*)*"
    r"(?:\(?(?:\d{1,2}|[ivx]{1,4}|[a-d])\)\s*|\d{1,2}\.\s+)?(?:the\s+)?",
    re.I,
)
_NOT_NAME = re.compile(
    r"^(?:each|this|that|whereas|such|it|its|state|section|article|exhibit|party|parties|agreement|contract|delaware|effective|date"
    r"|individually|collectively|together|both|any|all|name|address|attention|telephone|now|in|a|an|the|or|if|january|february|march|april|may|june|july"
    r"|august|september|october|november|december)\b",
    re.I,
)  # fmt: skip
_ROLE = re.compile(
    r"^(?:the\s+)?(?:provider|customer|licensor|licensee|supplier|vendor|company|client|buyer|seller|purchaser|contractor|consultant|owner|party\s+\w)s?$", re.I
)
_STARTS = re.compile(r"(?:^|(?<=[,;:.\s]))(?=[A-Z])")


def leading_names(text: str, *, anywhere: bool = False) -> list[tuple[int, int]]:
    """Offsets of the name that opens `text`, and of those joined to it by "and" right after a company ending.

    With `anywhere`, the names that stand anywhere in it and end like a company, for openings without a
    "between".
    """
    if anywhere:
        return _company_names(text)
    found: list[tuple[int, int]] = []
    at = 0
    while len(found) < 6:
        lead = _LEAD.match(text, at) if at == 0 else re.compile(r"\s*,?\s*(?:and|AND|&)\s+(?:the\s+)?").match(text, at)
        if lead is None:
            break
        start = lead.end()
        the = re.search(r"\bThe\s+$", text[:start])
        if the:
            start = the.start()
        end = _name_end(text, start)
        name = text[start:end]
        if end <= start or _NOT_NAME.match(name) and not name.startswith("The ") or not re.search(r"[A-Za-z]{2}", name):
            break
        if "{" in name or "[" in name or _ROLE.match(name):
            break
        found.append((start, end))
        at = end
    return found


def _company_names(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = 0
    for match in _STARTS.finditer(text):
        if match.start() < at:
            continue
        end = _name_end(text, match.start())
        words = text[match.start() : end].split()
        if len(words) > 1 and _SUFFIX.match(words[-1]):
            found.append((match.start(), end))
            at = end
    return found


def _name_end(text: str, start: int) -> int:
    """Where the run of capitalised words that starts at `start` ends; a comma ends it unless `Inc.` follows."""
    end = start
    tokens = list(re.finditer(r"[^\s]+", text[start : start + 220]))[:16]
    for index, token in enumerate(tokens):
        word = token.group()
        bare = word.strip(",;:()\"'")
        following = tokens[index + 1].group() if index + 1 < len(tokens) else ""
        if word[0] in "(\"[" and index:
            break
        if not bare or (bare[0].islower() and not _is_inner(bare, following, tokens[index - 1].group() if index else "")):
            break
        if bare.lower() not in _SMALL:
            end = start + token.start() + len(word.rstrip(",;:()\"'"))
        if word[-1] in ",;:" and not (_SUFFIX.match(following) or following.lower() in {"d/b/a", "dba"}):
            break
    return end


def _is_inner(bare: str, following: str, before: str) -> bool:
    """Whether a small word belongs to the name: capitals on both sides, and no company ending before "and"."""
    if bare.lower() in {"d/b/a", "dba", "f/k/a"}:
        return True
    if bare.lower() not in _SMALL or not following or not (following[0].isupper() or following.lower() in _SMALL):
        return False
    return not (bare.lower() in {"and", "&"} and _SUFFIX.match(before))
