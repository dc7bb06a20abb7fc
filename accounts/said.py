"""Sentences that are stored: English in the row, the reader's language on the page.

Whoever writes a sentence into a row does not know who will read it. So a room declares such sentences once, as
``Sentence(gettext_noop("…"))``, writes them in English, and the page puts them through :func:`read`, which finds the
declared sentence again and says it in the language that is active. What nobody declared is shown as it is stored.
"""

import re
from typing import Any

from django.utils.translation import get_language, gettext

_PLACE = re.compile(r"%\((\w+)\)s")
_plain: set[str] = set()
_patterns: list[tuple[int, str, re.Pattern[str]]] = []


class Sentence:
    """One declared sentence. ``text`` is its message id; every value in it is named: ``%(name)s``."""

    def __init__(self, text: str) -> None:
        self.text = text
        parts = _PLACE.split(text)
        if len(parts) == 1:
            _plain.add(text)
            return
        pattern = "".join(
            re.escape(part) if place % 2 == 0 else f"(?P<{part}>.*)" for place, part in enumerate(parts)
        )
        _patterns.append((sum(map(len, parts[::2])), text, re.compile(pattern, re.DOTALL)))
        # The one with the most words of its own is asked first.
        _patterns.sort(key=lambda known: -known[0])

    def __str__(self) -> str:
        return self.text

    def __call__(self, **values: Any) -> str:
        """The sentence with its values, in English."""
        return self.text % values


def read(stored: str) -> str:
    """A stored sentence in the language that is active, its values too if they are declared sentences."""
    if not stored or (get_language() or "en").startswith("en"):
        return stored
    if stored in _plain:
        return gettext(stored)
    for _words, text, pattern in _patterns:
        if found := pattern.fullmatch(stored):
            return gettext(text) % {name: read(value) for name, value in found.groupdict().items()}
    return stored
