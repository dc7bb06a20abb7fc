"""A read document: its text, and where each character came from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the text: page `number` (from 1) of a PDF, or a block such as `paragraph` or `row`."""

    start: int
    end: int
    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one file. Offsets count characters of `text`, so that a quote is `text[start:end]`."""

    kind: str
    """`pdf`, `docx`, `text` or `markdown`: what the content is, whatever the name says."""
    name: str
    sha256: str
    size: int
    text: str
    spans: tuple[Span, ...]
    warnings: tuple[str, ...] = ()
    facts: dict[str, object] = field(default_factory=dict)
    """Kind-specific facts, such as the encoding of a text file or the count of tracked changes."""

    @property
    def page_count(self) -> int | None:
        """Pages of a PDF; None for the formats whose pages exist only once they are printed."""
        return len(self.spans) if self.kind == "pdf" else None

    def span_at(self, offset: int) -> Span | None:
        """The page or block that holds `offset`."""
        index = bisect_right(self.spans, offset, key=lambda span: span.start) - 1
        return self.spans[index] if index >= 0 else None

    def page_at(self, offset: int) -> int | None:
        """The page (from 1) that holds `offset`; None when the format has no pages."""
        span = self.span_at(offset) if self.kind == "pdf" else None
        return span.number if span else None

    def stands(self, *, text: str, start: int, end: int) -> bool:
        """Whether `text` is exactly what stands at `start`:`end`."""
        return 0 <= start < end <= len(self.text) and self.text[start:end] == text
