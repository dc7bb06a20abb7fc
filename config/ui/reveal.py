"""Draw the signs that hide or pretend, where they stand.

What counts as one is decided in ``approvals.visible``: an approver must see the difference between
``linden.example`` and the same word with a Cyrillic letter in it, and every page must see the same one.
"""

import unicodedata

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from approvals import visible


def odd(text: str) -> list[visible.Segment]:
    """The signs in ``text`` that :func:`reveal` would spell out."""
    return visible.odd_signs(text)


def reveal(text: str) -> SafeString:
    """``text`` escaped, with every odd sign replaced by its code point and name in a marked box."""
    return format_html_join("", "{}", ((_drawn(part),) for part in visible.segments(text)))


def quoted(text: str) -> SafeString:
    """Words of a document: as :func:`reveal`, but the wide and the no-break spaces of typesetting are spaces."""
    return reveal("".join(" " if unicodedata.category(sign) == "Zs" else sign for sign in text))


def _drawn(part: visible.Segment) -> SafeString:
    if not part.mark:
        return escape(part.text)
    shown = part.text if unicodedata.category(part.text).startswith(("L", "P", "S")) else ""
    point, _, name = part.name.partition(" ")
    return format_html('{}<span class="odd">{} {}</span>', shown, point, name.lower())
