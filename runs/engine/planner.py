"""What the agent said becomes steps, intents and questions. Joins a transaction that holds the run's lock.

Directives are taken only against the version they were made for; the caller checks that. What cannot be carried out
(an unknown tool, an end while steps are live, an agent that raised) opens a takeover: the run waits for a person, the
node goes on.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from accounts.canonical import digest
from accounts.ids import new_id
from runs import sentences
from runs.engine import park, reserve
from runs.engine.ask_approval import ask_approval
from runs.engine.dependencies import Known, contradiction, needs, readiness
from runs.engine.doubt import may_have_happened, start_unknown
from runs.engine.end_run import end_as_failed, leave_waiting
from runs.engine.take_over import take_over
from runs.engine.types import Plan
from runs.engine.workspace import EMPTY_DIGEST, Locked, NewStep
from runs.states import INSERTED
from tools import intents, previews
from tools.adapters import registry
from tools.keys import key_for
from tools.models import Contract, EffectClass
from tools.selectors import by_id


@dataclass(frozen=True, slots=True)
class Live:
    """How much else of a run has not ended: steps of the agent, and what the engine inserted (remakes of damaged files,
    questions to a far side), of which the agent knows nothing. While only those are under way an end is put off: the agent
    is asked again when they are over."""

    steps: int = 0
    inserted: int = 0

    @classmethod
    def of(cls, keys: Iterable[str]) -> "Live":
        inserted = [key.startswith(INSERTED) for key in keys]
        return cls(steps=inserted.count(False), inserted=inserted.count(True))

    @property
    def total(self) -> int:
        return self.steps + self.inserted

    def __bool__(self) -> bool:
        return self.total > 0


NOTHING = Live()


def apply(run: Locked, plan: Plan, *, live: Live, known: Mapping[str, Known]) -> list[str]:
    """Carry out a plan. ``live``: what else of the run has not ended; ``known``: those of the keys in it that the run has
    already. Returns the keys that were planned."""
    if plan.summary is not None and plan.folded:
        run.summary = plan.summary
        run.summarised = plan.folded
        run.checkpoint = True
    if plan.error:
        take_over(run, "agent_raised", sentences.NO_PLAN(), detail=plan.error)
        return []
    if problem := contradiction(plan.directives, known):
        take_over(run, "bad_plan", sentences.BAD_PLAN(), detail=problem)
        return []
    planned: list[str] = []
    ends = [directive for directive in plan.directives if directive["do"] in ("finish", "fail")]
    for directive in plan.directives:
        if directive["do"] in ("call", "ask", "wait"):
            key = str(directive["key"])
            if key in known or any(step.key == key for step in run.steps):
                _note_drift(run, directive, _first(run, known, key))
            elif _plan_one(run, directive, live.total, known):
                planned.append(key)
    if ends and live.inserted and not live.steps and not planned:
        return planned
    if ends:
        _end(run, ends[0], live=bool(live.steps or planned))
    elif not planned and not live and not run.taken_over:
        take_over(run, "no_next_step", sentences.NO_NEXT_STEP())
    return planned


def others_live(context: str, key: str) -> Live:
    """What else was live at the version of this context."""
    # As a run that does one step after the other has it, without a look at the rest.
    if f'"live": ["{key}"]' in context or '"live": []' in context:
        return NOTHING
    return Live.of(other for other in orjson.loads(context)["live"] if other != key)


def contract_of(run: Locked, tool: str) -> Contract | None:
    """The contract that this run is pinned to."""
    pinned = run.contracts.get(tool)
    try:
        return by_id(uuid.UUID(pinned)) if pinned else None
    except Contract.DoesNotExist:
        return None


def _call(run: Locked, directive: Mapping[str, Any], live: int, known: Mapping[str, Known]) -> bool:
    tool = str(directive["tool"])
    contract = contract_of(run, tool)
    if contract is None:
        take_over(run, "unknown_tool", sentences.UNKNOWN_TOOL(tool=tool))
        return False
    kind = registry.kind(contract.adapter).counts
    if missing := reserve.room_for(run, kind=kind, contract=contract, live=live):
        reserve.take_over_for(run, missing)
        return False
    arguments = directive.get("arguments") or {}
    step = NewStep(
        new_id(),
        str(directive["key"]),
        kind,
        tool=tool,
        title=str(directive.get("title") or "")[:300],
        contract=contract.pk,
        pool=contract.isolation,
        timeout=contract.timeout_seconds,
        input={"arguments": arguments},
        input_digest=digest(arguments) if arguments else EMPTY_DIGEST,
        needs=needs(directive),
    )
    if directive.get("inputs"):
        step.input["inputs"] = list(directive["inputs"])
    states = {one.key: one.status for one in run.steps} | {key: one.status for key, one in known.items()}
    ready = readiness(step.needs, states)
    if ready == "never":
        _cannot_start(run, step)
        return True
    step.held = ready == "waits"
    if contract.effect_class != EffectClass.READ_ONLY:
        _effect(run, step, contract, directive)
    run.steps.append(step)
    run.moving = run.moving or (step.status == "PENDING" and not step.held)
    return True


def _plan_one(run: Locked, directive: Mapping[str, Any], live: int, known: Mapping[str, Known]) -> bool:
    return _call(run, directive, live, known) if directive["do"] == "call" else _park(run, directive, live)


def _park(run: Locked, directive: Mapping[str, Any], live: int) -> bool:
    """A question or a wait: no worker holds it."""
    if missing := reserve.room_for(run, kind="wait", contract=None, live=live):
        reserve.take_over_for(run, missing)
        return False
    try:
        (park.ask if directive["do"] == "ask" else park.wait_for)(run, directive)
    except park.CannotPark as error:
        take_over(run, error.code, error.text, detail=str(error.__cause__ or ""))
        return False
    return True


def _effect(run: Locked, step: NewStep, contract: Contract, directive: Mapping[str, Any]) -> None:
    """An effect: the gate decides; the intent exists before anything can be sent."""
    arguments = step.input["arguments"]
    key = key_for(tenant_id=run.tenant_id, lineage=run.lineage, step_key=step.key, tool=step.tool)
    word = run.reading.verdict(
        tenant_id=run.tenant_id,
        contract=contract,
        arguments=arguments,
        run_id=run.id,
        key=key,
        unsaved=run.proposals,
        switches=False,
    )
    if word.path == "blocked":
        step.status, step.error_code = "FAILED", "blocked"
        step.error_text = "; ".join(str(reason) for reason in word.reasons)[:1000]
        run.steps_ended += 1
        step.ended_seq = run.steps_ended
        run.plan_again()
        return
    target = previews.target_for(
        contract=contract, arguments=arguments, proposed=str(directive.get("target") or "")
    )
    # A key that another run of the lineage may have used already is asked for at once: the first intent wins (L9).
    doubtful = may_have_happened(run, contract)
    together = run.together and run.lineage == run.id and word.path == "auto" and not doubtful
    intent = (intents.fresh if together else intents.propose)(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=step.id,
        key=key,
        tool=contract.tool,
        contract=contract,
        arguments=arguments,
        target=target,
        authorised=word.path == "auto",
        epoch=1,
        verdict=word.as_json(),
    )
    step.intent, step.intent_key = intent.pk, intent.key
    if together:
        run.proposals.append(intent)
    why, evidence = str(directive.get("why") or ""), list(directive.get("evidence") or [])
    if doubtful:
        start_unknown(run, step, intent, why=why, evidence=evidence)
        return
    if word.path == "auto":
        return
    action = ask_approval(
        run,
        step_id=step.id,
        title=step.title or step.tool,
        intent=intent,
        contract=contract,
        policy=word.asked(),
        why=why,
        evidence=evidence,
        input_digest=step.input_digest,
    )
    step.status, step.waiting_on = "WAITING_APPROVAL", action.sentence[:200]


def _cannot_start(run: Locked, step: NewStep) -> None:
    """What it comes after has ended otherwise already: it ends before it began, and the agent is asked again."""
    run.steps_ended += 1
    step.status, step.error_code, step.ended_seq = "CANCELLED", "dependency_not_met", run.steps_ended
    run.steps.append(step)
    run.event("step.cancelled", step_id=step.id, payload={"key": step.key, "code": step.error_code})
    run.plan_again()


def _first(run: Locked, known: Mapping[str, Known], key: str) -> str:
    """The digest of the arguments that came first under a key."""
    return next((step.input_digest for step in run.steps if step.key == key), "") or known[key].digest


def _note_drift(run: Locked, directive: Mapping[str, Any], first: str) -> None:
    """The first wins (L9); another content under the same key is recorded."""
    content = directive.get("arguments") or {} if directive["do"] == "call" else park.content(directive)
    asked = digest(content)
    if first and asked != first:
        run.event("step.drift", payload={"key": str(directive["key"]), "first": first, "asked": asked})


def _end(run: Locked, directive: Mapping[str, Any], *, live: bool) -> None:
    if live:
        take_over(run, "end_while_live", sentences.END_WHILE_LIVE())
    elif directive["do"] == "finish":
        run.result = dict(directive.get("result") or {})
        leave_waiting(run)
        run.move("succeed")
        run.event("run.succeeded", payload={"steps": run.steps_ended})
    else:
        end_as_failed(run, str(directive.get("code") or "failed"), str(directive.get("text") or ""))
