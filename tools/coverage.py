"""Reversible coverage (L15): the share of what a task does that has a way back, by business loss. Pure.

Sum of the weights of effects whose contract names what undoes them / sum of the weights of all effects. What only reads is
no effect, and an undo is none of its own: an effect that was undone stays among those that can be.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from tools.models import Contract, EffectClass, Intent

#: Intents in these states have not happened and never will.
NOT_DONE = (Intent.Status.REJECTED, Intent.Status.VOIDED)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Sums of weights."""

    reversible: Decimal = Decimal(0)
    whole: Decimal = Decimal(0)

    @property
    def percent(self) -> int | None:
        """Whole percent, rounded down; None when nothing is at stake."""
        return int(100 * self.reversible / self.whole) if self.whole else None

    def below(self, floor: int) -> bool:
        """Whether the share is less than ``floor`` percent."""
        return 100 * self.reversible < floor * self.whole

    def plus(self, effect_class: str, weight: Decimal) -> "Coverage":
        """With one more call."""
        if effect_class == EffectClass.READ_ONLY:
            return self
        back = weight if effect_class == EffectClass.COMPENSABLE else Decimal(0)
        return Coverage(self.reversible + back, self.whole + weight)


def of_contracts(contracts: Iterable[Contract]) -> Coverage:
    """The coverage of one call of each."""
    found = Coverage()
    for contract in contracts:
        found = found.plus(contract.effect_class, Decimal(contract.weight))
    return found


def counts(intent: Intent) -> bool:
    """Whether it is an effect that happened or may have."""
    sent = intent.dispatch_id is not None and intent.status not in NOT_DONE
    return sent and intent.compensates_id is None and intent.contract.effect_class != EffectClass.READ_ONLY
