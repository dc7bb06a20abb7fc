"""How much of a file is ever touched."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds in bytes, counts or characters; each is checked before the work that it bounds."""

    file_bytes: int = 64 * MIB
    """A PDF or Word file larger than this is not opened."""
    text_bytes: int = 16 * MIB
    """A plain text or Markdown file larger than this is not opened."""
    pages: int = 3000
    characters: int = 20_000_000
    zip_entries: int = 5000
    zip_expanded_bytes: int = 256 * MIB
    """All entries of a Word package together, as its directory declares them."""
    xml_part_bytes: int = 24 * MIB
    """One XML part of a Word package after expansion."""
    xml_depth: int = 200


LIMITS = Limits()
