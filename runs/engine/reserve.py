"""Whether a run may start one more thing (S9). Reservations are derived from the live rows under the run's lock, never
counted beside them: a step that is to come, under way or UNKNOWN keeps what it may still need.

Joins a transaction that holds the run.
"""

from collections.abc import Iterable
from decimal import Decimal

from accounts.statements import statement
from runs import budget, sentences
from runs.budget import NOTHING, Shortage
from runs.engine.take_over import take_over
from runs.engine.workspace import Locked, NewStep, cursor
from tools.models import Contract
from tools.selectors import by_id

#: Which budget of calls a step of this kind counts against; questions and waits call nothing.
CALLS = {"call": "tool_calls", "undo": "tool_calls", "model": "model_calls"}


def room_for(run: Locked, *, kind: str, contract: Contract | None, live: int) -> Shortage | None:
    """What stands against planning one more step. ``live``: how many other steps have not ended, those new in this
    transaction aside."""
    wanted = _needs(kind, contract)
    if ample(run, live + len(run.steps)):
        return None
    return budget.shortage(run.budget, _spent(run), reserved=_reserved(run), wanted=wanted)


def room_again(run: Locked, *, live: int | None = None) -> Shortage | None:
    """What stands against another attempt of what is planned already. ``live``: how many other steps have not ended;
    without it the rows are asked."""
    if live is not None and ample(run, live):
        return None
    return budget.shortage(run.budget, _spent(run), reserved=_reserved(run))


def stop_if_spent(run: Locked, *, live: int | None = None) -> bool:
    """Opens a takeover when no further attempt is paid for. True: it did."""
    found = room_again(run, live=live) if run.takes_work else None
    if found is not None:
        take_over_for(run, found)
    return found is not None


def take_over_for(run: Locked, found: Shortage) -> None:
    """Exhaustion stops cleanly: a person may add some more, or end the task."""
    take_over(run, f"budget_{found.name}", sentence(found), shortage=found)


def sentence(found: Shortage) -> str:
    """Which budget, how much of how much."""
    if not found.reserved:
        words = sentences.SPENT[found.name]
        return words(used=shown(found.name, found.used), limit=shown("", found.limit))
    return sentences.NEEDS_MORE(
        name=sentences.BUDGETS[found.name],
        used=shown(found.name, found.used),
        reserved=budget.text(found.reserved),
        limit=shown("", found.limit),
    )


def shown(name: str, value: Decimal) -> str:
    """An amount for people: whole seconds, the rest as it is."""
    return budget.text(value.quantize(Decimal(1)) if name == "wall_seconds" else value)


def _needs(kind: str, contract: Contract | None) -> dict[str, Decimal]:
    """What one step, or one more attempt of it, may use at most."""
    needs = {"steps": Decimal(1)}
    if kind in CALLS:
        needs[CALLS[kind]] = Decimal(1)
    if contract is not None:
        needs["tokens"] = Decimal(contract.attempt_tokens or 0)
        needs["cost"] = Decimal(contract.attempt_cost or 0)
    return needs


def _spent(run: Locked) -> dict[str, object]:
    """With the working time up to now."""
    return {**run.spent, "wall_seconds": run.wall_seconds}


def ample(run: Locked, others: int) -> bool:
    """Without a look at the rows: everything is far from its limit, even if each of ``others`` needed one of each."""
    for name in budget.NAMES:
        if run.budget.get(name) is None:
            continue
        if name == "wall_seconds":
            if run.wall_seconds >= Decimal(str(run.budget[name])):
                return False
        elif name in budget.MEASURED or budget.used(run.spent, name) + others + 1 > Decimal(
            str(run.budget[name])
        ):
            return False
    return True


def _reserved(run: Locked) -> dict[str, Decimal]:
    """From the live rows, and from what this transaction is about to insert."""
    found = cursor()
    found.execute(statement("runs", "reserved"), {"run": run.id})
    live = [(kind, by_id(contract) if contract else None) for kind, contract in found.fetchall()]
    live += [(step.kind, by_id(step.contract) if step.contract else None) for step in _waiting(run.steps)]
    total = dict.fromkeys(budget.NAMES, NOTHING)
    for kind, contract in live:
        for name, more in _needs(kind, contract).items():
            total[name] += more
    return total


def _waiting(steps: Iterable[NewStep]) -> list[NewStep]:
    return [step for step in steps if step.kind != "plan" and step.ended_seq is None]
