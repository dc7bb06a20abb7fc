"""Make signs visible that hide or pretend.

Source: Unicode Technical Report 36 (bidirectional and look-alike attacks) and UTS 39 (mixed scripts). An
approver must see the difference between ``linden.example`` and the same word with a Cyrillic letter in it.
"""

import re
import unicodedata
from typing import Final

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

# Space and line breaks are read as they are; every other sign of these classes is spelled out.
PLAIN: Final = frozenset(" \n\r\t")
HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
# Hyphens and dots that look like the plain one, and letters wide or styled beyond it.
LOOK_ALIKE: Final = frozenset("\u2010\u2011\u2012\u2024\u2027\u2044\u2215\u2236\ufe52\uff0e\uff20\uff0f")
SCRIPTS: Final = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
WORD: Final = re.compile(r"[^\W\d_]+")


def odd(text: str) -> set[int]:
    """Positions in ``text`` of signs that hide, or that stand in a word of another script."""
    found = {
        i
        for i, sign in enumerate(text)
        if sign not in PLAIN and (unicodedata.category(sign) in HIDDEN or sign in LOOK_ALIKE)
    }
    for word in WORD.finditer(text):
        found.update(word.start() + i for i in _strangers(word.group()))
    return found


def _strangers(word: str) -> list[int]:
    """Positions of letters from another script in a word that begins as Latin, Cyrillic, Greek or the like."""
    scripts = [_script(letter) for letter in word]
    known = [script for script in scripts if script]
    if len(set(known)) < 2:
        return []
    home = "LATIN" if "LATIN" in known else known[0]
    return [i for i, script in enumerate(scripts) if script and script != home]


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((script for script in SCRIPTS if name.startswith(script)), "")


def reveal(text: str) -> SafeString:
    """``text`` escaped, with every odd sign replaced by its code point and name in a marked box."""
    strange = odd(text)
    if not strange:
        return escape(text)
    parts: list[SafeString] = []
    for i, sign in enumerate(text):
        if i not in strange:
            parts.append(escape(sign))
            continue
        name = unicodedata.name(sign, _("control character")).lower()
        shown = sign if unicodedata.category(sign).startswith(("L", "P", "S")) else ""
        parts.append(format_html('{}<span class="odd">U+{} {}</span>', shown, f"{ord(sign):04X}", name))
    return format_html_join("", "{}", ((part,) for part in parts))
