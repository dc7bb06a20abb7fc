"""What a task would do, before it starts: the agent's expectation, each step through the gate.

The same ``decide`` answers here as when the step is planned, so the preview promises no path that the run
will not take; it reads and writes nothing.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.utils.translation import gettext as _

from runs.agents.base import Agent, Expected
from runs.present.names import call_name, condition
from runs.present.people import group
from tools import coverage, gate, totals
from tools.models import Contract, EffectClass
from tools.policy import Earlier
from tools.reasons import Reason
from tools.selectors import Reading, contract_for, contracts_for, stops


@dataclass(frozen=True, slots=True)
class PlanStep:
    """An expected step and its path; ``why`` is a sentence."""

    title: str
    path: Literal["auto", "approval", "blocked"]
    effect: str
    why: str


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """The expected steps in order, and what deserves a second look. ``coverage``: the percent of its effects that could be
    undone, by weight; None when it expects none."""

    steps: list[PlanStep]
    warnings: list[str]
    coverage: int | None = None


def preview(*, tenant_id: uuid.UUID, agent: Agent, input: Mapping[str, Any]) -> PlanPreview:
    """The plan that the agent expects for this input."""
    expected = list(agent.expected(input))
    contracts = contracts_for({(tenant_id, one.tool) for one in expected})
    before: list[Earlier] = []
    steps: list[PlanStep] = []
    known: list[Contract] = []
    floor = Reading().floor(tenant_id)
    for one in expected:
        contract = contracts.get((tenant_id, one.tool))
        facts = gate.RunFacts(earlier=before, floor=floor, coverage=coverage.of_contracts(known))
        steps.append(_step(tenant_id, one, contract, facts))
        before.append(Earlier(one.tool, one.arguments))
        known += [contract] if contract is not None else []
    return PlanPreview(steps, _warnings(steps), coverage.of_contracts(known).percent)


def may_propose(*, tenant_id: uuid.UUID, agent: Agent) -> list[Contract]:
    """The contracts in force of those tools of the agent that cannot be undone."""
    found = [contract_for(tenant_id=tenant_id, tool=tool) for tool in agent.tools]
    return [one for one in found if one is not None and one.effect_class == EffectClass.IRREVERSIBLE]


def _today(contract: Contract) -> list[Earlier]:
    """What other tasks did in the last 24 hours, for rules that add it up."""
    return totals.earlier(
        tenant_id=contract.tenant_id, tool=contract.tool.name, policy=contract.policy, run_id=None, key=""
    )


def _step(
    tenant_id: uuid.UUID, expected: Expected, contract: Contract | None, before: gate.RunFacts
) -> PlanStep:
    """``before``: what the steps before it leave for the gate to look at."""
    title = call_name(expected.tool, expected.title or (contract.tool.title if contract else ""))
    if contract is None:
        words = _("no contract for the tool %(tool)s is in force. An administrator can publish one.")
        return PlanStep(title, "blocked", EffectClass.READ_ONLY.value, words % {"tool": expected.tool})
    facts = gate.facts(contract)
    if not expected.complete:
        # Arguments are not complete before anything ran: only the rules over what is known are asked.
        facts = replace(facts, input_schema={})
    halted = stops(tenant_id=tenant_id, tool_id=contract.tool_id)
    verdict = gate.decide(
        contract=facts,
        arguments=expected.arguments,
        run=replace(before, stops=halted, earlier=[*before.earlier, *_today(contract)]),
    )
    why = " ".join(_free(reason) if verdict.path == "auto" else str(reason) for reason in verdict.reasons)
    if verdict.path == "approval":
        asks = _("Decided by %(who)s; not you, because you submit.") % {"who": group(verdict.policy)}
        why = f"{why} {asks}"
    if expected.conditional:
        why = f"{why} {condition(expected.conditional)}"
    return PlanStep(title, verdict.path, contract.effect_class, why)


def _free(reason: Reason) -> str:
    """Why nobody is asked, in the fewest words."""
    words = {"read_only": _("by itself, read-only"), "compensable": _("by itself, can be undone")}
    return words.get(reason.code) or _("by itself: %(why)s") % {"why": reason}


def _warnings(steps: Sequence[PlanStep]) -> list[str]:
    """Irreversible steps that stand earlier than they need to (O4): work that could still tell against them
    follows."""
    found = []
    for place, step in enumerate(steps):
        later = [one.title for one in steps[place + 1 :] if one.effect == EffectClass.READ_ONLY]
        if step.effect == EffectClass.IRREVERSIBLE and step.path != "blocked" and later:
            words = _(
                "“%(step)s” cannot be undone, yet “%(later)s” comes after it and could still tell against it."
            )
            found.append(words % {"step": step.title, "later": later[0]})
    return found
