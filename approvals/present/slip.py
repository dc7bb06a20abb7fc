"""Money as the far side will move it: from, to, and the amount with its digits as they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals.folding import as_text

FUNDS: Final = "funds"
PAYER: Final = ("debtor", "payer", "from", "from_account", "source", "source_account")
PAYEE: Final = ("creditor", "payee", "to", "to_account", "recipient", "beneficiary", "iban", "destination")
NAME: Final = ("creditor_name", "payee_name", "recipient_name", "beneficiary_name", "name")
WORDS: Final = ("reference", "purpose", "memo", "remittance", "message")


@dataclass(frozen=True, slots=True)
class Slip:
    """``amount`` and all else exactly as they stand in the arguments; empty where the arguments have no such field."""

    payer: str
    payee: str
    name: str
    words: str
    currency: str
    amount: str


def slip(shown: Mapping[str, Any]) -> Slip | None:
    """Where the contract says that it moves funds and the arguments name an amount and somebody who gets it. Of two fields
    that could be the receiver none is chosen: then the arguments are shown as they are."""
    if (shown.get("contract") or {}).get("concerns") != FUNDS:
        return None
    arguments: Mapping[str, Any] = shown.get("arguments") or {}
    payees = [name for name in PAYEE if name in arguments]
    if "amount" not in arguments or len(payees) != 1:
        return None
    return Slip(
        payer=_first(arguments, PAYER) or str((shown.get("sender") or {}).get("name") or ""),
        payee=as_text(arguments[payees[0]]),
        name=_first(arguments, NAME),
        words=_first(arguments, WORDS),
        currency=_first(arguments, ("currency",)),
        amount=as_text(arguments["amount"]),
    )


def _first(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((as_text(arguments[name]) for name in names if name in arguments), "")
