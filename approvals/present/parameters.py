"""Every parameter as text, nothing cut; and the difference between two sets of them."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import visible
from approvals.folding import as_text, folds, same_text

#: Above so many words a difference is shown whole; comparing them takes the square of it.
MOST_WORDS: Final = 4000
ALIKE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Parameter:
    """``value`` is exactly what would be sent; ``long`` folds it, and Approve waits until it was opened."""

    name: str
    value: str
    note: str = ""
    mono: bool = True
    long: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a text, and whether the other text has them too."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One difference; an empty side means that it is not there. The parts are given where most words are the same, so
    that the few that differ stand out."""

    name: str
    then: str
    now: str
    then_parts: tuple[Part, ...] = ()
    now_parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows that differ and words about the rest."""

    title: str
    rows: tuple[Row, ...]
    same: str
    then_label: str
    now_label: str


def parameters(arguments: Mapping[str, Any], shown_above: str = "") -> list[Parameter]:
    """All arguments in the order of their canonical form. A value that stands whole in the preview is named
    by its length instead of being repeated, and only when it is equal to it.
    """
    return [_parameter(name, value, shown_above) for name, value in arguments.items()]


def note(found: list[Parameter]) -> str:
    """How many, beside the heading."""
    count = len(found)
    return ngettext("%s of %s shown, nothing cut", "%s of %s shown, nothing cut", count) % (count, count)


def _parameter(name: str, value: Any, shown_above: str) -> Parameter:
    text = as_text(value)
    if shown_above and same_text(text, shown_above):
        hidden = len(visible.odd_signs(text))
        count = ngettext("%s character", "%s characters", len(text)) % len(text)
        signs = _("no hidden ones") if not hidden else ngettext("%s unusual", "%s unusual", hidden) % hidden
        return Parameter(
            name, _("As shown above, %(count)s, %(signs)s") % {"count": count, "signs": signs}, mono=False
        )
    ascii_form = ", ".join(f"{host} = {form or '?'}" for host, form in visible.ascii_hosts(text).items())
    words = isinstance(value, str) and (" " in text.strip() or len(text) > 120)
    return Parameter(
        name,
        text,
        note=_("as the network sees it: %s") % ascii_form if ascii_form else "",
        mono=not words,
        long=folds(text, shown_above),
    )


def difference(
    *, title: str, then: Mapping[str, Any], now: Mapping[str, Any], then_label: str = "", now_label: str = ""
) -> Difference | None:
    """What differs between two questions, or None when nothing does."""
    names = [*now, *(name for name in then if name not in now)]
    rows = tuple(
        _row(name, as_text(then[name]) if name in then else "", as_text(now[name]) if name in now else "")
        for name in names
        if name not in then or name not in now or then[name] != now[name]
    )
    if not rows:
        return None
    same = len(names) - len(rows)
    words = ngettext("%s other is the same", "%s others are the same", same) % same if same else ""
    return Difference(title, rows, words, then_label or _("Then"), now_label or _("Now"))


def _row(name: str, then: str, now: str) -> Row:
    words = [re.findall(r"\s+|\S+", text) for text in (then, now)]
    if not all(words) or sum(map(len, words)) > MOST_WORDS:
        return Row(name, then, now)
    matcher = difflib.SequenceMatcher(None, words[0], words[1], autojunk=False)
    if matcher.ratio() < ALIKE:
        return Row(name, then, now)
    before: list[Part] = []
    after: list[Part] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        before.append(Part("".join(words[0][a:b]), kind != "equal"))
        after.append(Part("".join(words[1][c:d]), kind != "equal"))
    return Row(
        name, then, now, tuple(one for one in before if one.text), tuple(one for one in after if one.text)
    )
