"""Retry: what a contract allows after a failure that is known (S7). Pure.

The contract is published and pinned; neither agent nor tool can ask for more. What was counted stands in the step's row
(``failures``), and so does the moment after which no other try starts (``deadline``: ``max_total_seconds`` from the start of
the first try that failed). Drains, refusals of begin and steps that were not started in time count as no try.
"""

import random
from dataclasses import dataclass

from runs import budget
from runs.engine.types import Outcome
from tools.contradictions import MOST_ATTEMPTS
from tools.mcp.definition import CHANGED
from tools.models import Contract, EffectClass

#: The longest pause between two tries, in seconds.
LONGEST_PAUSE = 300.0
#: No pause is shorter or longer than planned by more than this part.
JITTER = 0.25


@dataclass(frozen=True, slots=True)
class Again:
    """One more try, after ``delay`` seconds, unless that would be later than ``total`` seconds after the first began."""

    delay: float
    total: float


def after(
    contract: Contract | None, outcome: Outcome, *, failures: int, repeatable: bool = False
) -> Again | None:
    """What the contract says about an outcome that failed after ``failures`` earlier failures; None: no more tries.
    ``repeatable``: another contract says that this call may be repeated."""
    if contract is None or not allowed(contract, outcome, failures=failures, repeatable=repeatable):
        return None
    return Again(pause(contract.backoff_seconds, failures), float(contract.max_total_seconds))


def allowed(contract: Contract | None, outcome: Outcome, *, failures: int, repeatable: bool = False) -> bool:
    """Whether there may be one more try, its time aside."""
    if (
        contract is None
        or not _repeatable(contract, repeatable)
        or not worth_it(contract, outcome.error_code)
    ):
        return False
    return failures + 1 < min(contract.max_attempts, MOST_ATTEMPTS) and not used_too_much(contract, outcome)


def _repeatable(contract: Contract, declared: bool) -> bool:
    """Reading may be repeated; an effect when a contract says so; what cannot be undone never by itself (O3)."""
    if contract.effect_class == EffectClass.READ_ONLY:
        return True
    return contract.effect_class != EffectClass.IRREVERSIBLE and (contract.retry_safe or declared)


def worth_it(contract: Contract, code: str) -> bool:
    """Whether an error of this code may pass by itself."""
    if code in contract.fatal_codes or code == CHANGED:
        return False
    return not contract.retryable_codes or code in contract.retryable_codes


def used_too_much(contract: Contract, outcome: Outcome) -> bool:
    """An attempt went beyond what its contract allows one to use."""
    most_tokens, most_cost = contract.attempt_tokens, contract.attempt_cost
    return (most_tokens is not None and budget.amount(outcome.tokens) > most_tokens) or (
        most_cost is not None and budget.amount(outcome.cost) > most_cost
    )


def pause(base: float, failures: int) -> float:
    """Seconds before the next try: doubles with each failure, with jitter so that many do not come back at once."""
    planned = min(base * 2.0 ** min(failures, 30), LONGEST_PAUSE)
    return planned * random.uniform(1 - JITTER, 1 + JITTER)  # jitter, no secret


def fallback(contract: Contract) -> str:
    """The read-only tool that stands in for a read-only one; empty when there is none."""
    return contract.fallback_tool if contract.effect_class == EffectClass.READ_ONLY else ""
