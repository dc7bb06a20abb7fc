"""Asks first: an effect that is known not to have happened, but was never allowed, is asked about before it may begin.
Joins a transaction that holds run, step, and intent."""

from typing import Any

from accounts.arrows import move
from runs.engine.ask_approval import ask_approval
from runs.engine.workspace import Locked
from runs.models import Step
from tools import intents
from tools.models import Contract, Intent
from tools.selectors import verdict


def asks_first(run: Locked, step: Step, intent: Intent, contract: Contract, facts: dict[str, Any]) -> bool:
    """True when it is asked about. ``step`` is PENDING and ``intent`` REJECTED."""
    word = verdict(
        tenant_id=run.tenant_id,
        contract=contract,
        arguments=intent.arguments,
        run_id=run.id,
        key=intent.key,
    )
    if intent.grant is not None or word.path != "approval":
        return False
    fresh = intents.ask_again(intent_id=intent.pk)
    action = ask_approval(
        run,
        step_id=step.pk,
        title=step.title or step.tool,
        intent=fresh,
        contract=contract,
        policy=word.asked(),
        why=str(facts.get("rationale") or ""),
        evidence=list(facts.get("evidence") or []),
        input_digest=step.input_digest,
        epoch=step.epoch,
    )
    move(step, "wait_for_person", epoch=step.epoch, changes={"waiting_on": action.sentence[:200]})
    return True
