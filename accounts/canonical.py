"""JSON as this house accepts, stores and signs it: strict on the way in, one byte form for digests (RFC
8785).

Two sides. At the edge, what cannot be stored or would be read differently by another parser is refused
(:func:`strict_loads`, :func:`check_storable`: faults B78 to B82). In the result of a tool it is written out
visibly and marked (:func:`storable`), because a value that cannot be stored must never turn a success into
a retry.

No Django here: children of a node import it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from decimal import Decimal
from typing import Any, NoReturn

import rfc8785

MAX_DEPTH = 32
MAX_BYTES = 2_000_000
SAFE_INTEGER = 2**53 - 1
TOO_DEEP = "[left out: nested too deeply]"

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class BadInput(ValueError):
    """A value refused at the edge. ``code`` is stable and for programs, ``text`` is English for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def canonical(value: Any) -> bytes:
    """The one byte form of a JSON value. Numbers are doubles, as RFC 8785 has them; raises
    :class:`BadInput`."""
    try:
        return rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        # PostgreSQL writes the double 1e+16 back as an integer: both must give the same bytes.
        return rfc8785.dumps(_as_doubles(value))
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise BadInput("not_canonical", f"The value has no canonical form: {error}") from error


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def strict_loads(data: bytes | str, *, max_depth: int = MAX_DEPTH, max_bytes: int = MAX_BYTES) -> Any:
    """Parse JSON that every parser reads alike and the database can keep; raises :class:`BadInput` otherwise.

    ``max_bytes`` counts UTF-8 bytes. Depth is measured before parsing, so deep input cannot exhaust the
    stack.
    """
    if len(data) > max_bytes or (isinstance(data, str) and len(data.encode(errors="replace")) > max_bytes):
        raise BadInput("too_large", f"The JSON text is larger than {max_bytes} bytes.")
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
    except UnicodeDecodeError:
        raise BadInput("not_utf8", "The JSON text is not UTF-8.") from None
    _check_depth(text, max_depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_decimal,
        )
    except BadInput:
        raise
    except (ValueError, RecursionError) as error:
        raise BadInput("not_json", f"The text is not JSON: {error}") from None
    check_storable(value, max_depth=max_depth)
    return value


def check_storable(value: Any, *, max_depth: int = MAX_DEPTH) -> None:
    """The same checks on a Python value; raises :class:`BadInput`. Tuples count as lists."""
    level: list[Any] = [value]
    depth = 0
    while level:
        below: list[Any] = []
        for item in level:
            below.extend(_parts(item))
        depth += bool(below) or any(isinstance(item, dict | list | tuple) for item in level)
        if depth > max_depth:
            raise BadInput("too_deep", f"The value is nested deeper than {max_depth} levels.")
        level = below


def storable(value: Any, *, max_depth: int = MAX_DEPTH) -> tuple[Any, bool]:
    r"""A value that can be stored, and whether anything had to be written differently.

    NUL and lone surrogates become visible escapes (``\u0000``), NaN and infinities their names, numbers
    that a double cannot hold and foreign types their text; what is nested too deeply is left out and says
    so. Never raises.
    """
    if isinstance(value, str):
        clean = _UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", value)
        return clean, clean != value
    if value is None or isinstance(value, bool):
        return value, False
    if isinstance(value, int):
        return (int(value), False) if _exact(value) else (_text(value), True)
    if isinstance(value, float):
        return (value, False) if math.isfinite(value) else (_name(value), True)
    if isinstance(value, dict | list | tuple):
        if max_depth < 1:
            return TOO_DEEP, True
        return (
            _storable_dict(value, max_depth) if isinstance(value, dict) else _storable_list(value, max_depth)
        )
    return storable(_text(value))[0], True


def _storable_list(value: list[Any] | tuple[Any, ...], max_depth: int) -> tuple[list[Any], bool]:
    pairs = [storable(item, max_depth=max_depth - 1) for item in value]
    return [item for item, _ in pairs], any(changed for _, changed in pairs)


def _storable_dict(value: dict[Any, Any], max_depth: int) -> tuple[dict[str, Any], bool]:
    out: dict[str, Any] = {}
    changed = False
    for key, item in value.items():
        name, renamed = storable(key if isinstance(key, str) else _text(key))
        while name in out:
            name, renamed = f"{name}_", True
        out[name], other = storable(item, max_depth=max_depth - 1)
        changed = changed or renamed or other or not isinstance(key, str)
    return out, changed


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the value is foreign, its __str__ may raise anything
        return f"<{type(value).__name__}>"


def _name(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _exact(value: int) -> bool:
    """A double holds this integer so that its shortest text names the same number."""
    if abs(value) <= SAFE_INTEGER:
        return True
    try:
        return Decimal(repr(float(value))) == value
    except OverflowError:
        return False


def _as_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_doubles(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_doubles(item) for item in value]
    if isinstance(value, int) and abs(value) > SAFE_INTEGER:
        _check_number(value)
        return float(value)
    return value


def _check_depth(text: str, max_depth: int) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > max_depth:
                raise BadInput("too_deep", f"The JSON text is nested deeper than {max_depth} levels.")
        elif first in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput("duplicate_key", f"The key {twice[:80]!a} stands twice in one object.")
    return found


def _constant(name: str) -> NoReturn:
    raise BadInput("not_finite", f"{name} is not a JSON number.")


def _integer(text: str) -> int:
    if len(text) > 400:
        raise BadInput("number_too_large", "A number is too large to be kept exactly; send it as text.")
    return int(text)


def _decimal(text: str) -> float:
    """A double that says the same as the text, digit for digit; what it would round is refused, not changed."""
    value = float(text)
    try:
        same = math.isinf(value) or Decimal(repr(value)) == Decimal(text)
    except ArithmeticError:  # an exponent beyond any decimal
        same = False
    if not same:
        raise BadInput("number_too_precise", "A number has more digits than can be kept; send it as text.")
    return value


def _parts(item: Any) -> list[Any]:
    """The children of a container; refuses a leaf that cannot be stored."""
    if isinstance(item, dict):
        for key in item:
            if not isinstance(key, str):
                raise BadInput("not_json", f"A key is not text: {_text(key)[:80]!a}.")
            _check_text(key)
        return list(item.values())
    if isinstance(item, list | tuple):
        return list(item)
    if isinstance(item, str):
        _check_text(item)
    elif isinstance(item, int | float):
        _check_number(item)
    elif item is not None:
        raise BadInput("not_json", f"A value of type {type(item).__name__} is not JSON.")
    return []


def _check_text(text: str) -> None:
    found = _UNSTORABLE.search(text)
    if found and found[0] == "\x00":
        raise BadInput("nul", "The text holds a NUL character (U+0000), which cannot be stored.")
    if found:
        raise BadInput("lone_surrogate", f"The text holds half a character (U+{ord(found[0]):04X}).")


def _check_number(value: int | float) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadInput("not_finite", f"{_name(value)} is not a JSON number.")
    elif not _exact(value):
        raise BadInput("number_too_large", "A number is too large to be kept exactly; send it as text.")
