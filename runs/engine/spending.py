"""What an execution used of the run's budget (S9). Joins a transaction that holds the run."""

from decimal import Decimal

from runs import budget
from runs.engine.reserve import CALLS
from runs.engine.types import Outcome
from runs.engine.workspace import Locked

#: Endings after which the call was made, or may have been. What was given back unstarted, or refused by begin, used nothing.
MADE = ("succeeded", "failed", "unknown", "lost", "timeout", "cancelled")


def book_call(run: Locked, outcome: Outcome) -> None:
    """One call, and what it measured, whatever became of it: retries are paid for like the first try."""
    calls = CALLS.get(outcome.claimed.kind)
    if outcome.ending not in MADE or calls is None:
        return
    measured = {
        "tokens": budget.amount(outcome.tokens).to_integral_value(),
        "cost": budget.amount(outcome.cost),
    }
    run.spend(**{calls: Decimal(1)}, **measured)


def stored_tokens(outcome: Outcome) -> int:
    """The tokens as a step's row can hold them."""
    return int(budget.amount(outcome.tokens))


def stored_cost(outcome: Outcome) -> str:
    """The cost as a step's row can hold it."""
    return budget.text(budget.amount(outcome.cost))
