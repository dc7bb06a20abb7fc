"""What a rule of a policy compares: the values under a path of arguments, numbers digit for digit, text. Pure.

A value that cannot be judged counts against the call: whoever asks gets True.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from typing import Any

#: One comparison each; ``total_over`` is judged in :mod:`tools.policy`, with what came before.
COMPARISONS = (
    "is", "one_of", "not_one_of", "over", "under", "longer_than",
    "starts_with", "not_starts_with", "ends_with", "not_ends_with", "total_over",
)  # fmt: skip
NUMERIC = ("over", "under", "total_over")
TEXTUAL = ("starts_with", "not_starts_with", "ends_with", "not_ends_with")
#: In a path: each element of a list.
EACH = "*"
#: Money is often text, because JSON numbers are doubles elsewhere. Anything else than plain digits is no number: who reads
#: "1,000" as one and who as a thousand is not decided here.
_NUMBER = re.compile(r"[+-]?[0-9]{1,60}(\.[0-9]{1,60})?")
#: Wide enough that no sum of doubles or of such text is ever rounded.
EXACT = Context(prec=1_000)
#: Capital letters of ASCII only: case folding would make other signs into letters of a domain.
_LOWER = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}


def found(arguments: Any, path: str) -> list[Any] | None:
    """The values under a path such as ``items.*.amount``; None when a part of it is missing or of another kind. A list
    without elements has no values."""
    values: list[Any] = [arguments]
    for name in path.split("."):
        if name == EACH:
            if not all(isinstance(value, list) for value in values):
                return None
            values = [element for value in values for element in value]
        elif all(isinstance(value, Mapping) and name in value for value in values):
            values = [value[name] for value in values]
        else:
            return None
    return values


def number(value: Any) -> Decimal | None:
    """The number that a JSON value is, exactly as it is written; None when it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        read = Decimal(str(value))
        return read if read.is_finite() else None
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def added(values: Sequence[Any]) -> Decimal | None:
    """The sum of those above zero, so that nothing negative makes room; None when one of them is no number."""
    total = Decimal(0)
    for value in values:
        amount = number(value)
        if amount is None:
            return None
        total = EXACT.add(total, max(amount, Decimal(0)))
    return total


def applies(how: str, wanted: Any, value: Any) -> bool:
    """Whether one comparison is true of one value, or cannot be judged."""
    match how:
        case "is":
            return _same(value, wanted)
        case "one_of":
            return any(_same(value, one) for one in wanted)
        case "not_one_of":
            return not any(_same(value, one) for one in wanted)
        case "over" | "under":
            left, right = number(value), number(wanted)
            if left is None or right is None:
                return True
            return left > right if how == "over" else left < right
        case "longer_than":
            return not isinstance(value, str) or len(value) > int(wanted)
    if not isinstance(value, str):
        return True
    ends = tuple(text.translate(_LOWER) for text in ([wanted] if isinstance(wanted, str) else wanted))
    lower = value.translate(_LOWER)
    hit = lower.startswith(ends) if how.endswith("starts_with") else lower.endswith(ends)
    return hit is not how.startswith("not_")


def fault(how: str, wanted: Any) -> str:
    """What is wrong with the value of a comparison, in plain English; empty when it can be used."""
    if how in NUMERIC:
        return "" if number(wanted) is not None else f"{how!r} is not a number"
    if how in ("one_of", "not_one_of"):
        return "" if isinstance(wanted, list) else f"{how!r} is not a list"
    if how == "longer_than":
        whole = isinstance(wanted, int) and not isinstance(wanted, bool) and wanted >= 0
        return "" if whole else f"{how!r} is not a number of characters"
    if how in TEXTUAL:
        texts = [wanted] if isinstance(wanted, str) else wanted
        fits = isinstance(texts, list) and texts and all(isinstance(one, str) and one for one in texts)
        return "" if fits else f"{how!r} is neither a text nor a list of texts"
    return ""


def _same(value: Any, wanted: Any) -> bool:
    """Equal; a number of the rule is compared as a number, so 0 is also "0.00"."""
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        left = number(value)
        return left is not None and left == number(wanted)
    return type(value) is type(wanted) and bool(value == wanted)
