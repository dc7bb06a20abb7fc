"""Budgets of a run (S9): what it may use, what it has used, what is reserved. Pure; standard library only.

Six names. *Counted*: ``steps``, ``tool_calls``, ``model_calls``; a step that is to come, under way or UNKNOWN reserves one
of each kind that it may still need. *Measured*: ``tokens``, ``cost`` (currency units), ``wall_seconds`` (time in which the
run was RUNNING: waiting, for a person above all, does not count); what one attempt will measure is only known when its
contract says how much it may be. A name that a budget does not have is unlimited. Amounts are decimal and travel as text:
no float ever holds one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal, InvalidOperation
from typing import Any

COUNTED = ("steps", "tool_calls", "model_calls")
MEASURED = ("tokens", "cost", "wall_seconds")
NAMES = (*COUNTED, *MEASURED)
#: The most that one amount may be: what one attempt can report, one budget hold, or one person add.
MOST = Decimal(10_000_000)
_MICRO = Decimal("0.000001")
NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Shortage:
    """Which budget does not suffice: ``used`` and ``reserved`` of ``limit``."""

    name: str
    used: Decimal
    reserved: Decimal
    limit: Decimal


def amount(value: Any) -> Decimal:
    """What a tool or a row says, as an amount from 0 to :data:`MOST` with six places, rounded up. What is no number
    counts as nothing: it must never turn a success into a retry."""
    try:
        given = Decimal(str(value))
    except InvalidOperation:
        return NOTHING
    if given.is_nan() or given <= 0:
        return NOTHING
    return min(given, MOST).quantize(_MICRO, rounding=ROUND_UP)


def used(spent: Mapping[str, Any], name: str) -> Decimal:
    """What was spent of one budget; sums may be larger than :data:`MOST`."""
    return Decimal(str(spent.get(name, 0)))


def text(value: Decimal) -> str:
    """The shortest text of an amount: ``3``, ``0.05``."""
    plain = format(value, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def add(spent: Mapping[str, Any], name: str, more: Decimal) -> int | str:
    """The new value of ``spent[name]``: a number for what is counted and for tokens, else text."""
    total = used(spent, name) + more
    return text(total) if name in ("cost", "wall_seconds") else int(total)


def shortage(
    budget: Mapping[str, Any],
    spent: Mapping[str, Any],
    *,
    reserved: Mapping[str, Decimal],
    wanted: Mapping[str, Decimal] | None = None,
) -> Shortage | None:
    """The first budget that does not suffice, or None.

    With ``wanted``: for one more step that needs so much. Without: for what is reserved already, as before another
    attempt. A measured budget of which nothing is left lets nothing start, whatever it wants.
    """
    for name in NAMES:
        if budget.get(name) is None:
            continue
        limit, so_far, held = Decimal(str(budget[name])), used(spent, name), reserved.get(name, NOTHING)
        whole = so_far + held + (wanted or {}).get(name, NOTHING)
        taken = so_far if wanted is None else so_far + held
        if whole > limit or (name in MEASURED and taken >= limit):
            return Shortage(name, so_far, held, limit)
    return None
