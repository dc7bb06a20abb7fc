"""Which answers need a recent proof of who gives them (checklist 11, decision 0033): those that let something of high risk
happen, or say of it that it did. Saying no never does."""

from typing import Final

from approvals.models import PendingAction, Verdict
from tools.models import Risk

LETS_HAPPEN: Final = frozenset(
    {Verdict.APPROVE, Verdict.HAPPENED, Verdict.NOT_HAPPENED, Verdict.NOBODY_KNOWS}
)


def needed(action: PendingAction, verdict: Verdict) -> bool:
    """Whether this answer to this question needs it."""
    return action.risk == Risk.HIGH and verdict in LETS_HAPPEN
