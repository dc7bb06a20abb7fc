"""Fields of a form: contracts whose key terms stand behind labels, in a table or on the cover.

Cover pages and order forms say "Governing Law | The laws of …" instead of a sentence. A row is read when its
label names a field and its value is filled in; a value that is still a placeholder says nothing.
"""

from __future__ import annotations

import re

from runs.agents.contract_review.dates import DATE
from runs.agents.contract_review.findings import Finding
from runs.agents.contract_review.values import BLANK
from runs.agents.contract_review.view import View, quoted

_LABELS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (field, re.compile(rf"^(?:{pattern})\s*:?$", re.IGNORECASE))
    for field, pattern in (
        ("parties", r"customer|provider|supplier|vendor|licensor|licensee|client|party \w|company"),
        ("agreement_date", r"(?:agreement|contract|signing|execution) date|date of (?:agreement|contract)"),
        ("effective_date", r"effective date|start date|commencement date"),
        (
            "expiration",
            r"(?:\w+ )?term|subscription period|expir(?:y|ation)(?: date)?|end date|duration",
        ),
        ("renewal", r"(?:auto-?|automatic )?renewal(?: term)?"),
        (
            "renewal_notice",
            r"(?:non-renewal |renewal )?notice (?:period|date)|non-renewal notice(?: date| period)?",
        ),
        ("governing_law", r"governing law|applicable law"),
        (
            "liability_cap",
            r"(?:general |increased )?(?:liability )?cap(?: amount)?|limitation of liability",
        ),
        ("payment_terms", r"payment (?:terms|process|period)"),
    )
)
_DATE_FIELDS = frozenset({"agreement_date", "effective_date", "expiration"})
_LINE = re.compile(r"^[ ]*(?P<label>[A-Z][A-Za-z ]{3,30}):[ ]*", re.MULTILINE)
_COVER = 5000
"""How far into the text a labelled line counts as part of the cover."""
_CHECKED = re.compile(r"\[\s*x\s*\]|☒|☑", re.IGNORECASE)
_UNCHECKED = re.compile(r"\[\s*\]|☐")


def read_form(view: View, present: set[str]) -> list[Finding]:
    """Findings from rows of tables, for fields that are not in `present`."""
    found: list[Finding] = []
    for span in view.document.spans:
        row = view.document.text[span.start : span.end]
        if "\t" not in row or span.kind not in {"row", "block"}:
            continue
        label = row.split("\t", 1)[0].split("\n", 1)[0].strip()
        field = next((name for name, pattern in _LABELS if pattern.match(label)), None)
        if field is None or field in present:
            continue
        start = span.start + row.index("\t") + 1
        finding = _value(view, field, start, span.end, label)
        found += [finding] if finding else []
    return found


def read_cover(view: View, present: set[str]) -> list[Finding]:
    """Dates behind a label on a line of the cover, such as "Expiry Date: February 28, 2030"."""
    found: dict[str, Finding] = {}
    for line in _LINE.finditer(view.clean, 0, _COVER):
        field = next((name for name, pattern in _LABELS if pattern.match(line["label"].strip())), None)
        day = DATE.match(view.clean, line.end())
        if day and field in _DATE_FIELDS and field not in found.keys() | present:
            finding = quoted(view, field, *day.span(), 0.8)
            if finding:
                found[field] = finding
    return list(found.values())


def _value(view: View, field: str, start: int, end: int, label: str) -> Finding | None:
    """The quote of a filled-in value: the line itself, or the checked one of several choices."""
    raw = view.document.text[start:end]
    if _CHECKED.search(raw):
        mark = next(_CHECKED.finditer(raw))
        stop = _UNCHECKED.search(raw, mark.end())
        start, end = start + mark.end(), start + stop.start() if stop else end
    elif _UNCHECKED.search(raw):
        return None
    start, end = view.quote(start, end)
    text = view.document.text[start:end]
    if len(text) < 3 or BLANK.sub("", text).strip(" \t\n.,:") == "" or _mostly_blank(text):
        return None
    value = {"alias": label} if field == "parties" else {}
    return Finding(field, text, start, end, view.document.page_at(start), value, 0.8)


def _mostly_blank(text: str) -> bool:
    """Whether what is left beside placeholders is only connecting words."""
    rest = BLANK.sub("", text)
    return bool(BLANK.search(text)) and not re.search(r"\d", rest)
