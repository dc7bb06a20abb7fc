"""Names of companies and people at the start of a stretch of text."""

from __future__ import annotations

import re

_SUFFIX = re.compile(
    r"^(?:Inc|Incorporated|LLC|L\.L\.C|Ltd|Limited|Co|Corp|Corporation|Company|LP|L\.P|LLP|L\.L\.P"
    r"|PLC|plc|N\.A|AG|GmbH|S\.A|SA|S\.p\.A"
    r"|B\.V|BV|N\.V|NV|AB|A/S|AS|Oy|KG|KK|K\.K|Pty|Pte|SE|SAS|S\.A\.S|S\.r\.l|SARL|S\.à|P\.C|PC|Trust"
    r"|Fund|Bank|Association)\.?,?$",
    re.IGNORECASE,
)
_SMALL = frozenset(
    {
        "of",
        "and",
        "the",
        "de",
        "for",
        "du",
        "van",
        "von",
        "der",
        "d/b/a",
        "dba",
        "&",
        "in",
        "y",
        "e",
        "la",
        "del",
        "f/k/a",
    }
)
_LEAD = re.compile(
    r"^[\s,;:.)\-]*(?:(?:and|between|among|by|on\s+the\s+one\s+hand|on\s+the\s+other\s+hand"
    r"|the\s+undersigned|is|are|each\s+of)\b[\s,;:]*)*"
    r"(?:\(?(?:\d{1,2}|[ivx]{1,4}|[a-d])\)\s*|\d{1,2}\.\s+)?(?:the\s+)?",
    re.IGNORECASE,
)
_NOT_NAME = re.compile(
    r"^(?:each|this|that|whereas|such|it|its|state|section|article|exhibit|party|parties|agreement"
        r"|contract|delaware|effective|date"
    r"|individually|collectively|together|both|any|all|name|address|attention|telephone|now|in|a|an"
        r"|the|or|if|january|february|march|april|may|june|july"
    r"|august|september|october|november|december)\b",
    re.IGNORECASE,
)  # fmt: skip
_ROLE = re.compile(
    r"^(?:the\s+)?(?:provider|customer|licensor|licensee|supplier|vendor|company|client|buyer|seller"
    r"|purchaser|contractor|consultant|owner|party\s+\w)s?$",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\s*,?\s*(?:and|AND|&)\s+(?:the\s+)?|\s*,?\s*(?:an?|AN?)\s[^,;()\"]{3,90}[,;]\s*(?:(?:and"
    r"|AND)\s+)?(?:\(?(?:\d{1,2}|[ivx]{1,4})\)\s*)?(?:the\s+)?"
    r"|\s*,\s+(?:the\s+)?(?=[A-Z0-9])"
)
_PLAIN_AND = re.compile(r"\s*,?\s*(?:and|AND|&)\s+(?:the\s+)?")
_ENDS_NAME = re.compile(
    r"^(?:Inc|LLC|L\.L\.C|Ltd|Corp|LP|L\.P|LLP|PLC|GmbH|AG|S\.A|B\.V|N\.V"
    r"|Co)\.?$",
    re.IGNORECASE,
)
_STOPS = re.compile(
    r"^(?:dated?|whereas|witnesseth|recitals?|address|effective|attention|attn|table"
    r"|background)$",
    re.IGNORECASE,
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
    lead = _LEAD.match(text)
    while lead is not None and len(found) < 6:
        name = _name_at(text, lead.end(), company=bool(found) and not _PLAIN_AND.fullmatch(lead.group()))
        if name is None:
            break
        found.append(name)
        lead = _NEXT.match(text, name[1])
    return found or _after_and(text)


def is_company(text: str) -> bool:
    """Whether `text` ends like the name of a company."""
    words = text.split()
    return len(words) > 1 and bool(_ENDS_NAME.match(words[-1].rstrip(",")))


def joined_name(text: str) -> list[tuple[int, int]]:
    """The company that a leading "and" joins to what stood before, as after the last alias of an opening."""
    lead = re.match(r"\s*[,;]?\s*(?:and|AND|&)\s+(?:the\s+)?", text)
    name = _name_at(text, lead.end(), company=True) if lead else None
    return [name] if name else []


def _name_at(text: str, start: int, *, company: bool) -> tuple[int, int] | None:
    """The name at `start`, if what stands there can be one; a company must end like one."""
    the = re.search(r"\bThe\s+$", text[:start])
    if the:
        start = the.start()
    end = _name_end(text, start)
    name = text[start:end]
    if end <= start or not re.search(r"[A-Za-z]{2}", name) or "{" in name or "[" in name or _ROLE.match(name):
        return None
    if _NOT_NAME.match(name) and not name.startswith("The "):
        return None
    if company and not _SUFFIX.match(name.split()[-1]):
        return None
    return start, end


def _after_and(text: str) -> list[tuple[int, int]]:
    """A name after the last "and", when what comes first is the rest of the party before (its address)."""
    for match in reversed(list(re.finditer(r"\b(?:and|AND)\s+(?:the\s+)?(?=[A-Z0-9])", text))):
        name = _name_at(text, match.end(), company=True)
        if name:
            return [name]
    return []


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
    """Where the run of capitalised words from `start` ends; a comma ends it unless `Inc.` follows."""
    end = start
    tokens = list(re.finditer(r"[^\s]+", text[start : start + 220]))[:16]
    for index, token in enumerate(tokens):
        word = token.group()
        bare = word.strip(",;:()\"'")
        following = tokens[index + 1].group() if index + 1 < len(tokens) else ""
        if (word[0] in '("[' and index) or _STOPS.match(bare.rstrip(".")):
            break
        if not bare or (
            bare[0].islower() and not _is_inner(bare, following, tokens[index - 1].group() if index else "")
        ):
            break
        if bare.lower() not in _SMALL:
            end = start + token.start() + len(word.rstrip(",;:()\"'"))
        if _ENDS_NAME.match(bare) and not (_SUFFIX.match(following) or following.lower() in {"d/b/a", "dba"}):
            break
        if word.endswith(".") and len(bare) > 4 and not _SUFFIX.match(word) and "." not in bare[:-1]:
            return start + token.start() + len(bare.rstrip("."))
        if word[-1] in ",;:" and not (_SUFFIX.match(following) or following.lower() in {"d/b/a", "dba"}):
            break
    return end


def _is_inner(bare: str, following: str, before: str) -> bool:
    """Whether a small word belongs to the name: capitals around it, no company ending before "and"."""
    if bare.lower() in {"d/b/a", "dba", "f/k/a", "plc"}:
        return True
    if (
        bare.lower() not in _SMALL
        or not following
        or not (following[0].isupper() or following.lower() in _SMALL)
    ):
        return False
    return not (bare.lower() in {"and", "&"} and _SUFFIX.match(before))
