"""Which questions may be answered at once, what they share, and what they come to together.

Everything is read from the bytes that were shown, never from the rows beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from django.utils.translation import gettext as _

from accounts.canonical import BadInput
from approvals import shown
from approvals.models import PendingAction
from tools import compare, policy
from tools.models import Risk

#: At most so many at once.
MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Kinship:
    """What all rows of a batch have in common."""

    tenant: str
    tool: str
    contract_version: int
    risk: str


@dataclass(frozen=True, slots=True)
class Sum:
    """Amounts of one currency, digit for digit; the currency is empty where the arguments name none."""

    currency: str
    amount: Decimal
    rows: int

    def __str__(self) -> str:
        return f"{self.currency} {self.amount:f}".strip()


def kinship(action: PendingAction) -> Kinship | None:
    """By what a question is like others; None for one that is answered alone."""
    if action.kind != PendingAction.Kind.APPROVE:
        return None
    try:
        seen = shown.read(action.shown)
    except BadInput:
        return None
    tool = str(seen.get("tool_id") or "")
    return Kinship(
        str(seen.get("tenant")), tool, int(seen.get("contract_version") or 0), str(seen.get("risk"))
    )


def difference(one: Kinship | None, other: Kinship | None) -> str:
    """Why two questions are not answered at once, in words; empty when they are."""
    if one is None or other is None:
        return _("This kind of question is answered alone.")
    if (one.tenant, one.tool) != (other.tenant, other.tool):
        return _("It is another tool.")
    if one.contract_version != other.contract_version:
        return _("It is another version of the tool.")
    return "" if one.risk == other.risk else _("It is another risk class.")


def sums(actions: Sequence[PendingAction]) -> list[Sum] | None:
    """What the rows come to, by currency: the amounts that a rule over totals of their contract names. Empty when no rule
    names any, None when one of them is no number, so that there is no sum that could be told."""
    found: dict[str, Sum] = {}
    for action in actions:
        amount = amount_of(action)
        if amount is None:
            if amount_path(action):
                return None
            continue
        old = found.get(amount.currency, Sum(amount.currency, Decimal(0), 0))
        found[amount.currency] = Sum(
            amount.currency, compare.EXACT.add(old.amount, amount.amount), old.rows + 1
        )
    return list(found.values())


def amount_of(action: PendingAction) -> Sum | None:
    """What one row is about; None when no rule names an amount, or it is no number."""
    path = amount_path(action)
    arguments = shown.read(action.shown)["arguments"]
    values = compare.found(arguments, path) if path else None
    if values is None:
        return None
    total = Decimal(0)
    for value in values:
        number = compare.number(value)
        if number is None:
            return None
        total = number if len(values) == 1 else compare.EXACT.add(total, number)
    return Sum(_currency(arguments, path), total, 1)


def amount_path(action: PendingAction) -> str:
    """The argument that the first rule over totals adds up; empty when there is none."""
    if action.intent is None:
        return ""
    rules = policy.totals(action.intent.contract.policy)
    return str(rules[0].get("argument") or "") if rules else ""


def gesture(actions: Sequence[PendingAction]) -> str:
    """What is typed before all of them are approved: the sum where there is one, else how many they are. Empty when none of
    them asks for a second gesture."""
    if not any(action.second_gesture or action.risk == Risk.HIGH for action in actions):
        return ""
    found = sums(actions)
    whole = found is not None and len(found) == 1 and found[0].rows == len(actions)
    return f"{found[0].amount:f}" if found and whole else str(len(actions))


def _currency(arguments: Mapping[str, Any], path: str) -> str:
    """The argument called ``currency`` beside the amount, or at the top."""
    beside = ".".join([*path.split(".")[:-1], "currency"])
    for place in (beside, "currency"):
        values = compare.found(arguments, place) or []
        if values and all(value == values[0] for value in values) and isinstance(values[0], str):
            return values[0][:20]
    return ""
