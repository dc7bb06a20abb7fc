"""Text from outside, told apart into what reads as it is and what hides or pretends.

Sources: Unicode Technical Report 36 (bidirectional and look-alike attacks) and UTS 39 (mixed scripts); RFC
3492 for the ASCII form of host names. The pages draw the marks through ``config.ui.reveal``; this is
what decide-side code and the API say.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

PLAIN: Final = frozenset(" \n\r\t")
HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
BIDIRECTIONAL: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
LOOK_ALIKE: Final = frozenset("\u2010\u2011\u2012\u2024\u2027\u2044\u2215\u2236\ufe52\uff0e\uff20\uff0f")
SCRIPTS: Final = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
WORD: Final = re.compile(r"[^\W\d_]+")
HOST: Final = re.compile(r"(?:@|//)([^\s/@:?#<>\"']+)")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text. ``mark`` is empty for plain text, else ``hidden``, ``bidirectional`` or
    ``look_alike``; then the stretch is one sign and ``name`` says which (``U+202E RIGHT-TO-LEFT OVERRIDE``).
    """

    text: str
    mark: str = ""
    name: str = ""


def segments(text: str) -> list[Segment]:
    """The whole text in order, nothing left out: joined again it is the input."""
    strangers = _strangers(text)
    parts: list[Segment] = []
    plain = ""
    for place, sign in enumerate(text):
        mark = _mark(sign) or ("look_alike" if place in strangers else "")
        if not mark:
            plain += sign
            continue
        if plain:
            parts.append(Segment(plain))
            plain = ""
        parts.append(Segment(sign, mark, f"U+{ord(sign):04X} {unicodedata.name(sign, 'control character')}"))
    return [*parts, Segment(plain)] if plain else parts


def odd_signs(text: str) -> list[Segment]:
    """Only the marked signs."""
    return [part for part in segments(text) if part.mark]


def ascii_hosts(text: str) -> dict[str, str]:
    """Every host name in an address or URL that is not plain ASCII, with the form that the network sees.

    A name that has no such form maps to an empty string: nothing can be sent there.
    """
    found: dict[str, str] = {}
    for host in HOST.findall(text):
        if host.isascii():
            continue
        try:
            found[host] = host.encode("idna").decode("ascii")
        except UnicodeError:
            found[host] = ""
    return found


def _mark(sign: str) -> str:
    if sign in BIDIRECTIONAL:
        return "bidirectional"
    if sign in LOOK_ALIKE:
        return "look_alike"
    return "hidden" if sign not in PLAIN and unicodedata.category(sign) in HIDDEN else ""


def _strangers(text: str) -> set[int]:
    """Places of letters whose script is not that of the rest of their word."""
    found: set[int] = set()
    for word in WORD.finditer(text):
        scripts = [_script(letter) for letter in word.group()]
        known = [script for script in scripts if script]
        if len(set(known)) > 1:
            home = "LATIN" if "LATIN" in known else known[0]
            found |= {word.start() + i for i, script in enumerate(scripts) if script and script != home}
    return found


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((script for script in SCRIPTS if name.startswith(script)), "")
