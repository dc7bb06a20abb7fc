"""A call that was not made because its server offers another tool than the one that was confirmed (B68)."""

from collections.abc import Sequence

from runs.engine.types import Outcome
from tools import drifts
from tools.mcp.definition import CHANGED


def note(outcomes: Sequence[Outcome]) -> None:
    """Quarantines their tools, before the outcomes themselves are recorded: nothing is retried into the same wall. Owns a
    transaction for each; a repeat changes nothing."""
    for outcome in outcomes:
        if outcome.error_code != CHANGED or outcome.claimed.contract_id is None:
            continue
        facts = outcome.output if isinstance(outcome.output, dict) else {}
        if "found" in facts:
            drifts.note(contract_id=outcome.claimed.contract_id, found=facts["found"])
