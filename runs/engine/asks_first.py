"""Asks first: an effect that is known not to have happened, but was never allowed, is asked about before it may begin.
Joins a transaction that holds run, step, and intent."""

from typing import Any

from accounts.arrows import move
from runs.engine.ask_approval import ask_about
from runs.engine.judge import judge
from runs.engine.workspace import Locked
from runs.models import Step
from tools import intents
from tools.models import Contract, Intent


def asks_first(run: Locked, step: Step, intent: Intent, contract: Contract, facts: dict[str, Any]) -> bool:
    """True when it is asked about. ``step`` is PENDING and ``intent`` REJECTED."""
    word = judge(run, intent, contract)
    if intent.grant is not None or word.path != "approval":
        return False
    fresh = intents.ask_again(intent_id=intent.pk)
    why, evidence = str(facts.get("rationale") or ""), list(facts.get("evidence") or [])
    action = ask_about(run, step, fresh, contract, word.asked(), why=why, evidence=evidence)
    move(step, "wait_for_person", epoch=step.epoch, changes={"waiting_on": action.sentence[:200]})
    return True
