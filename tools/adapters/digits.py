"""JSON of a far side with every number digit for digit: what a float or a browser would round stays text. No Django."""

import json
from decimal import Decimal
from typing import Any

#: From here on a number of JavaScript, and so of many readers of JSON, is not exact any more.
_EXACT = 2**53


def parsed(data: bytes | str) -> Any:
    """The value; None when it is no JSON."""
    try:
        return json.loads(data, parse_float=decimal, parse_int=integer, parse_constant=str)
    except (ValueError, RecursionError):
        return None


def decimal(text: str) -> float | str:
    """A float where it says the same as the text."""
    value = float(text)
    return value if Decimal(repr(value)) == Decimal(text) else text


def integer(text: str) -> int | str:
    """A number where every reader has it whole."""
    return text if len(text) > 17 or abs(int(text)) >= _EXACT else int(text)
