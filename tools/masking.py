"""Takes echoes of secrets out of what a call brings back, before anything of it is stored. No Django: children do it,
because they alone know the values.

A far side may repeat a credential in an address, a header, an answer or an error, as it is or written as addresses, JSON
and HTML write it; numbers count as their digits. Errors are cut to a length, so half a secret counts as one.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

#: Shorter ones are found in any text; nobody guesses a secret from three letters that are missing.
SHORTEST = 4
#: From this length on the first half alone is masked as well.
HALVED = 12
#: Deeper answers are none that anybody made for people; they are left out as a whole rather than looked through in part.
DEEPEST = 200


class Mask:
    """Of these secrets: name → value."""

    __slots__ = ("_heads", "_search")

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._heads: dict[str, list[tuple[str, str]]] = {}
        for name, value in secrets.items():
            if len(value) >= SHORTEST:
                for form in _forms(value):
                    head = form[: len(form) // 2] if len(form) >= HALVED else form
                    self._heads.setdefault(head, []).append((form, f"({name})"))
        longest_first = sorted(self._heads, key=len, reverse=True)
        self._search = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def text(self, text: str) -> str:
        """The name of a secret, in brackets, wherever its value stood."""
        return "".join(self._parts(text)) if self._heads else text

    def data(self, data: bytes) -> bytes:
        """The same for bytes, whatever they are."""
        if not self._heads:
            return data
        return self.text(data.decode("latin-1")).encode("latin-1", "replace")

    def value(self, value: Any, depth: int = 0) -> Any:
        """The same for a JSON value with its keys."""
        if not self._heads:
            return value
        if depth > DEEPEST:
            return "…"
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner, depth + 1) for inner in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            masked = self.text(str(value))
            return value if masked == str(value) else masked
        return value

    def _parts(self, text: str) -> Iterator[str]:
        """The text between the echoes, and a name for each; an echo goes as far as the value does."""
        done = 0
        while found := self._search.search(text, done):
            start = found.start()
            length, name = max(
                (_common(text, start, form), name)
                for head, forms in self._heads.items()
                if len(head) <= _common(text, start, head)
                for form, name in forms
            )
            yield text[done:start]
            yield name
            done = start + length
        yield text[done:]


def _common(text: str, start: int, form: str) -> int:
    """How many characters of the form stand there, without regard to case."""
    for place, character in enumerate(form):
        here = text[start + place : start + place + 1]
        if here.lower() != character.lower():
            return place
    return len(form)


def _forms(value: str) -> set[str]:
    """How a value is written in an address, in a form, in JSON and in HTML."""
    plain = json.dumps(value)[1:-1]
    addresses = {quote(value, safe=""), quote(value), quote_plus(value)}
    return {value, html.escape(value), plain, plain.replace("/", "\\/"), *addresses}
