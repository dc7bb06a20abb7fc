"""A document made easy for rules: one character for one character, so that offsets stay true.

Curly quotes become straight, every blank a space, and the furniture of pages (running heads, page numbers,
filing footers) becomes blanks, so that a sentence that crosses a page break reads through. A quote is cut to
one page again, because it must be an exact slice with one page number.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from runs.agents.contract_review.findings import Finding
from runs.documents import Document

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("“”„«»", '"'),
        **dict.fromkeys("‘’", "'"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200b\u202f\u3000\t\f", " "),
        **dict.fromkeys("\u00ad\u2010\u2011–—", "-"),
    }
)
_PAGE_NUMBER = re.compile(
    r"^(?:\W*(?:page\s*)?(?:[a-z]-?)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?\W*|<page>"
    r"|[ivxlc]{1,6})$",
    re.IGNORECASE,
)
_EDGE = 4
"""How many lines at the top and bottom of a page may be furniture."""

_ABBREVIATION = re.compile(
    r"(?:\b(?:Inc|Ltd|Co|Corp|No|Nos|Art|Sec|Secs|Mr|Mrs|Ms|Dr|Prof|St|Ave|Blvd|Bldg|Ste|vs|v|cf|al"
        r"|etc|e\.g|i\.e|L\.P|L\.L\.C"
    r"|N\.A|S\.A|B\.V|U\.S|U\.S\.A|U\.K|D\.C|P\.O|a\.m|p\.m|seq|approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug"
        r"|Sep|Sept|Oct|Nov|Dec|Esq|Jr|Sr)"
    r"|\b[A-Z])$"
)  # fmt: skip
_STOP = re.compile(
    r"[.;](?=[\"')\]]*\s+(?:[\"'(\[]*[A-Z0-9]|[a-z]{1,4}\)|\([a-z0-9ivx]+\)|and\b|or\b))"
    r"|[.;](?=[\"')\]]*\s*\Z)"
)
_HEADING = re.compile(
    r"\n[ ]*(?=(?:ARTICLE|Article|SECTION|Section|EXHIBIT|Exhibit|SCHEDULE|Schedule)\s+[IVXLC\d]"
        r"|\d{1,2}\.\s*[A-Z\"]"
    r"|\d{1,2}(?:\.\d{1,2}){1,3}\.?\s*[A-Z\"(]|\(?[a-z]\)\s|\([ivx]+\)\s|#)"
)  # fmt: skip
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of the view between two stops, headings or blank lines."""

    start: int
    end: int
    text: str
    """The view's text with runs of blanks made one; only for matching, never for quoting."""


class View:
    """`text` has exactly the length of `document.text`."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.lines = document.text.translate(_CHARACTERS)
        """Quotes straightened, line breaks kept, furniture still there."""
        self.clean = _blank_furniture(self.lines, document)
        """As `lines`, with furniture blanked."""
        self.text = self.clean.replace("\n", " ")

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences in order. A full stop after an abbreviation or an initial does not end one."""
        cuts = {0, len(self.clean)}
        for match in _STOP.finditer(self.clean):
            before = self.clean[max(0, match.start() - 12) : match.start()]
            if match.group() == ";" or not _ABBREVIATION.search(before):
                cuts.add(match.end() + _closers(self.clean, match.end()))
        cuts.update(match.end() for match in _HEADING.finditer(self.clean))
        if self.document.kind != "pdf":
            cuts.update(match.end() for match in _PARAGRAPH.finditer(self.clean))
            cuts.update(span.start for span in self.document.spans if span.kind != "page")
        ordered = sorted(cuts)
        found = []
        for start, end in pairwise(ordered):
            squeezed = " ".join(self.text[start:end].split())
            if len(squeezed) > 3:
                found.append(Sentence(start, end, squeezed))
        return tuple(found)

    def quote(self, start: int, end: int) -> tuple[int, int]:
        """Trim blanks, and cut to the page that holds the larger part."""
        start, end = self._trim(start, end)
        if self.document.kind != "pdf":
            return start, end
        best = (start, start)
        for span in self.document.spans:
            part = self._trim(max(start, span.start), min(end, span.end))
            if part[1] - part[0] > best[1] - best[0]:
                best = part
        return best

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        while start < end and self.text[start] == " ":
            start += 1
        while end > start and self.text[end - 1] == " ":
            end -= 1
        return start, end


def quoted(
    view: View, field: str, start: int, end: int, confidence: float, **value: object
) -> Finding | None:
    """A finding with the exact slice at `start`:`end`, trimmed and on one page; None if nothing is left."""
    start, end = view.quote(start, end)
    if end <= start:
        return None
    text = view.document.text[start:end]
    return Finding(field, text, start, end, view.document.page_at(start), dict(value), confidence)


def _closers(text: str, at: int) -> int:
    """How many closing quotes and brackets follow a stop."""
    count = 0
    while at + count < len(text) and text[at + count] in "\"')]":
        count += 1
    return count


def _blank_furniture(text: str, document: Document) -> str:
    """Blank page numbers, and lines that come back at the edges of many pages."""
    pages = [span for span in document.spans if span.kind == "page"]
    edges = [_edge_lines(text, span.start, span.end) for span in pages] if pages else []
    counts = Counter(key for lines in edges for key in {_line_key(text[a:b]) for a, b in lines})
    often = max(3, len(pages) // 3)
    blank: list[tuple[int, int]] = []
    for lines in edges:
        blank += [
            (a, b)
            for a, b in lines
            if counts[_line_key(text[a:b])] >= often or _PAGE_NUMBER.match(text[a:b].strip())
        ]
    if not pages:
        blank = [(a, b) for a, b in _all_lines(text, 0, len(text)) if text[a:b].strip().lower() == "<page>"]
    pieces, last = [], 0
    for start, end in sorted(blank):
        pieces += [text[last:start], " " * (end - start)]
        last = end
    return "".join([*pieces, text[last:]])


def _all_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Offsets of the lines with something in them."""
    found = []
    at = start
    for line in text[start:end].split("\n"):
        if line.strip():
            found.append((at, at + len(line)))
        at += len(line) + 1
    return found


def _edge_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    lines = _all_lines(text, start, end)
    return lines if len(lines) <= 2 * _EDGE else lines[:_EDGE] + lines[-_EDGE:]


def _line_key(line: str) -> str:
    """A line without its numbers: `Page 3 of 49` and `Page 4 of 49` are one."""
    return re.sub(r"\d+", "#", " ".join(line.split()).lower())
