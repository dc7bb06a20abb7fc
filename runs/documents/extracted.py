"""What a reader of one format hands back, and the builder that keeps its offsets right."""

from __future__ import annotations

from dataclasses import dataclass, field

from runs.documents.document import Span
from runs.documents.errors import Unreadable
from runs.documents.sanitize import sanitize_text


@dataclass(frozen=True, slots=True)
class Extracted:
    """Text with its spans, warnings and facts, before it gets a name and a digest."""

    text: str
    spans: tuple[Span, ...]
    warnings: tuple[str, ...] = ()
    facts: dict[str, object] = field(default_factory=dict)


class TextBuilder:
    """Appends parts, separated by a line break, and remembers where each one stands.

    Raises `Unreadable("too_large")` as soon as the text passes `limit` characters.
    """

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._spans: list[Span] = []
        self._length = 0

    def add(self, text: str, *, kind: str, number: int) -> None:
        """Append one page or block; what cannot be stored is marked first."""
        clean = sanitize_text(text)
        if self._length + len(clean) > self._limit:
            raise Unreadable(
                "too_large",
                f"The document holds more than {self._limit:,} characters of text. Reading stopped"
                f" and nothing "
                "was kept. Split the document and upload the parts.",
                limit=self._limit,
            )
        self._spans.append(Span(self._length, self._length + len(clean), kind, number))
        self._parts.append(clean)
        self._length += len(clean) + 1

    def build(self) -> tuple[str, tuple[Span, ...]]:
        """The whole text and its spans."""
        return "\n".join(self._parts), tuple(self._spans)
