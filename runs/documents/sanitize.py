"""Make any text storable without hiding that it was changed.

PostgreSQL refuses NUL and lone surrogates. A tool's result that contains them must not fail its step, so
they are written out as visible marks instead of being dropped.
"""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def sanitize_text(text: str) -> str:
    """Replace each NUL and lone surrogate with a visible mark such as `⟦U+0000⟧`."""
    return _UNSTORABLE.sub(lambda match: f"⟦U+{ord(match.group()):04X}⟧", text)


def count_unstorable(text: str) -> int:
    """How many characters `sanitize_text` would mark."""
    return len(_UNSTORABLE.findall(text))
