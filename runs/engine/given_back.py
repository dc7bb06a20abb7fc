"""What becomes of a step that was just given back: another try, the tool that stands in for its own, or the end (S7). A
step of a run that is being cancelled never starts again (B32).

Joins the transaction that gave it back.
"""

import uuid

from accounts.statements import statement
from runs import sentences
from runs.engine import retry
from runs.engine.take_over import take_over
from runs.engine.types import Outcome
from runs.engine.workspace import Locked, cursor
from tools.models import Contract, EffectClass
from tools.selectors import by_id


def settle(run: Locked, outcome: Outcome, *, too_late: bool) -> str:
    """The state of the step after all. ``too_late``: the next try would start after the step's own deadline."""
    if not run.plannable:
        return _end(run, outcome, "CANCELLED")
    if outcome.ending not in ("failed", "timeout"):
        return "PENDING"
    contract = by_id(outcome.claimed.contract_id) if outcome.claimed.contract_id else None
    if not too_late and retry.allowed(contract, outcome, failures=outcome.claimed.failures):
        return "PENDING"
    other = stand_in(run, contract)
    if other is None:
        return _end(run, outcome, "FAILED")
    _go_on_with(run, outcome, other)
    return "PENDING"


def stand_in(run: Locked, contract: Contract | None) -> Contract | None:
    """The contract that the run is pinned to for the fallback: of another read-only tool, with no fallback of its own, so
    that no two stand in for each other for ever."""
    name = retry.fallback(contract) if contract else ""
    pinned = run.contracts.get(name) if name else None
    other = by_id(uuid.UUID(pinned)) if pinned else None
    if other is None or other.effect_class != EffectClass.READ_ONLY or other.fallback_tool:
        return None
    return other


def gave_up(run: Locked, outcome: Outcome, status: str) -> bool:
    """Whether the contract wants a person to hear of a failure that is left; then it opens the takeover."""
    claimed = outcome.claimed
    if status != "FAILED" or claimed.contract_id is None or not run.plannable:
        return False
    contract = by_id(claimed.contract_id)
    if contract.last_resort != Contract.LastResort.TAKE_OVER:
        return False
    sentence = sentences.GAVE_UP(what=contract.tool.title or claimed.tool)
    detail = f"{outcome.error_code}: {outcome.error_text}"
    step = contract.tool.title or claimed.tool
    # What failed is known not to have happened: leaving it out is as safe as telling the agent.
    entries = {"ask": sentences.ENTRY_ASK(step=step), "after": sentences.ENTRY_AFTER(step=step)}
    take_over(run, "gave_up", sentence[:500], detail=detail, step_id=claimed.step_id, entries=entries)
    return True


def _go_on_with(run: Locked, outcome: Outcome, other: Contract) -> None:
    claimed = outcome.claimed
    cursor().execute(
        statement("runs", "stand_in"),
        {
            "step": claimed.step_id,
            "tool": other.tool.name,
            "contract": other.pk,
            "pool": other.isolation,
            "timeout": other.timeout_seconds,
        },
    )
    payload = {"key": claimed.key, "from": claimed.tool, "to": other.tool.name, "code": outcome.error_code}
    run.event("step.stood_in", step_id=claimed.step_id, epoch=claimed.epoch, payload=payload)


def _end(run: Locked, outcome: Outcome, status: str) -> str:
    counted = outcome.claimed.kind != "plan"
    ended_seq = run.steps_ended + 1 if counted else None
    cursor().execute(
        statement("runs", "end_given_back"),
        {"step": outcome.claimed.step_id, "status": status, "ended_seq": ended_seq},
    )
    return status
