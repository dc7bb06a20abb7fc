"""The gate: may this call run by itself, must a person agree, or not at all? Pure: facts in, verdict out.

The strictest word counts, and every reason is told, not only the first.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import referencing
from django.utils.translation import gettext_noop as _
from jsonschema import Draft202012Validator

from tools import policy as policies
from tools import resources
from tools.adapters import registry
from tools.coverage import Coverage
from tools.models import Contract, EffectClass, Risk
from tools.reasons import Reason

Path = Literal["auto", "approval", "blocked"]

#: An agent may propose these, never do them (L17).
ONLY_PROPOSED = {
    Contract.Concerns.FUNDS.value: _("It moves money: an agent may only propose it."),
    Contract.Concerns.COMMITMENT.value: _(
        "It commits the company towards others: an agent may only propose it."
    ),
    Contract.Concerns.PERMISSION.value: _("It changes who may do what: an agent may only propose it."),
}
#: The code of what a call says that its contract does not take.
MISFIT = "arguments"
STOPPED = {
    "tenant": _("%(by)s stopped everything: %(reason)s"),
    "tool": _("%(by)s stopped this tool: %(reason)s"),
    "run": _("%(by)s stopped this task: %(reason)s"),
    "paused": _("%(by)s paused this tool: %(reason)s"),
}


@dataclass(frozen=True, slots=True)
class ContractFacts:
    """What the gate needs of a contract. ``proxy_dedup``: our own gateway refuses a repeat, because the
    contract puts its resource under a strict fence (L11). ``resource``: the template of its name, when there is an order."""

    tool: str
    effect_class: str
    adapter: str = "python"
    concerns: str = Contract.Concerns.NOTHING.value
    risk: str = Risk.LOW.value
    weight: Decimal = Decimal(1)
    native_idempotency: bool = False
    proxy_dedup: bool = False
    resource: str = ""
    approval_ttl_seconds: int = 259_200
    target: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    input_schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stop:
    """Somebody stopped a ``tenant``, a ``tool`` or a ``run``, or a tool is ``paused``."""

    scope: Literal["tenant", "tool", "run", "paused"]
    reason: str
    by: str = "…"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the gate needs of the run and of what is switched off around it. ``earlier``: the calls that rules over totals
    count beside this one. ``floor``: the percent of reversible coverage below which the tenant wants a person asked, None
    for no such floor; ``coverage``: that of the run without this call."""

    stops: Sequence[Stop] = ()
    earlier: Sequence[policies.Earlier] = ()
    floor: int | None = None
    coverage: Coverage = field(default_factory=Coverage)


@dataclass(frozen=True, slots=True)
class Verdict:
    """``policy`` is the snapshot for the desk: role, quorum, not_submitter, ttl_seconds, and the terms of the policy
    (``policy.TERMS``) that say anything."""

    path: Path
    reasons: list[Reason]
    policy: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The form that is kept with a call: the path, and why."""
        return {"path": self.path, "reasons": [reason.as_json() for reason in self.reasons]}

    def asked(self) -> dict[str, Any]:
        """The snapshot for the desk, with why a person is asked."""
        return {**self.policy, "reasons": [reason.as_json() for reason in self.reasons]}


def facts(contract: Contract, *, newest: Contract | None = None) -> ContractFacts:
    """The facts of a row. The definition is that of ``contract``; the rules are those of ``newest``, if
    given."""
    ruling = newest or contract
    return ContractFacts(
        tool=contract.tool.name,
        effect_class=contract.effect_class,
        adapter=contract.adapter,
        target=contract.target,
        config=contract.config,
        concerns=contract.concerns,
        risk=contract.risk,
        weight=Decimal(contract.weight),
        native_idempotency=contract.native_idempotency,
        proxy_dedup=contract.fence_rule == Contract.FenceRule.STRICT and bool(contract.resource),
        resource=contract.resource if resources.ordered(contract) else "",
        approval_ttl_seconds=ruling.approval_ttl_seconds,
        policy=ruling.policy,
        input_schema=contract.input_schema,
    )


def decide(*, contract: ContractFacts, arguments: Mapping[str, Any], run: RunFacts) -> Verdict:
    """The verdict on one call."""
    ruled = policies.apply(contract.policy, arguments, tool=contract.tool, earlier=run.earlier)
    snapshot = {
        "role": ruled.role,
        "quorum": ruled.quorum,
        "not_submitter": True,
        "ttl_seconds": contract.approval_ttl_seconds,
        **policies.terms(contract.policy),
    }
    blocked = [stopped(stop) for stop in run.stops]
    blocked += [_forbids(one) for one in ruled.blocked]
    blocked += _misfits(contract, arguments)
    if blocked:
        return Verdict("blocked", blocked, snapshot)
    asking = [*_asks(contract, ruled), *_too_little_way_back(contract, run)]
    if asking:
        return Verdict("approval", asking, snapshot)
    return Verdict("auto", [free(contract.effect_class)], snapshot)


def stopped(stop: Stop) -> Reason:
    """Who stopped what, and why."""
    return Reason(f"stopped_{stop.scope}", STOPPED[stop.scope], {"by": stop.by, "reason": stop.reason})


def _asks(contract: ContractFacts, ruled: policies.Ruled) -> list[Reason]:
    """Why a person must agree."""
    found: list[Reason] = []
    if contract.effect_class == EffectClass.IRREVERSIBLE:
        found.append(Reason("irreversible", _("It cannot be undone.")))
    if contract.concerns in ONLY_PROPOSED:
        found.append(Reason(f"concerns_{contract.concerns}", ONLY_PROPOSED[contract.concerns]))
    repeatable = contract.native_idempotency or contract.proxy_dedup
    if contract.effect_class != EffectClass.READ_ONLY and contract.risk == Risk.HIGH and not repeatable:
        found.append(
            Reason(
                "high_risk_without_key",
                _("A wrong call is costly, and the other side would not notice a second one."),
            )
        )
    if ruled.always_asks:
        found.append(Reason("policy", _("The policy of this tool always asks a person.")))
    return [*found, *(_needs_a_person(one) for one in ruled.approval)]


def _too_little_way_back(contract: ContractFacts, run: RunFacts) -> list[Reason]:
    """Too little of what the task does could be taken back (L15). Reading changes nothing of that."""
    if run.floor is None or contract.effect_class == EffectClass.READ_ONLY:
        return []
    then = run.coverage.plus(contract.effect_class, contract.weight)
    if not then.below(run.floor):
        return []
    text = _(
        "With this call %(share)s %% of what the task does could be undone, by weight; "
        "below %(floor)s %% a person is asked."
    )
    return [Reason("coverage", text, {"share": then.percent or 0, "floor": run.floor})]


def _needs_a_person(applied: policies.Applied) -> Reason:
    if applied.total is None:
        return Reason("rule", _("A rule of the tool asks a person: %(why)s"), {"why": applied.why})
    texts = {
        "run": _(
            "A rule over the total asks a person: %(why)s "
            "%(before)s in this task so far, with this call %(now)s; up to %(most)s nobody is asked."
        ),
        "day": _(
            "A rule over the total asks a person: %(why)s "
            "%(before)s in the last 24 hours, with this call %(now)s; up to %(most)s nobody is asked."
        ),
    }
    untold = _("A rule over the total asks a person: %(why)s It cannot be added up.")
    return _of_total(applied.why, applied.total, texts, untold)


def _forbids(applied: policies.Applied) -> Reason:
    if applied.total is None:
        return Reason("rule", _("A rule of the tool forbids it: %(why)s"), {"why": applied.why})
    texts = {
        "run": _(
            "A rule over the total forbids it: %(why)s "
            "%(before)s in this task so far, with this call %(now)s; %(most)s is the most."
        ),
        "day": _(
            "A rule over the total forbids it: %(why)s "
            "%(before)s in the last 24 hours, with this call %(now)s; %(most)s is the most."
        ),
    }
    untold = _("A rule over the total forbids it: %(why)s It cannot be added up.")
    return _of_total(applied.why, applied.total, texts, untold)


def _of_total(why: str, total: policies.Total, texts: Mapping[str, str], untold: str) -> Reason:
    if total.before is None or total.now is None:
        return Reason("total", untold, {"why": why})
    amounts = {"before": f"{total.before:f}", "now": f"{total.now:f}", "most": f"{total.most:f}"}
    return Reason("total", texts[total.per], {"why": why, **amounts})


def free(effect_class: str) -> Reason:
    """Why nobody is asked."""
    if effect_class == EffectClass.READ_ONLY:
        return Reason("read_only", _("It only reads."))
    return Reason("compensable", _("It can be undone, and no rule asks a person."))


def _misfits(contract: ContractFacts, arguments: Mapping[str, Any]) -> list[Reason]:
    """Arguments that the contract does not take."""
    found: list[tuple[str, str]] = []
    if contract.input_schema:
        errors = validator(json.dumps(contract.input_schema, sort_keys=True)).iter_errors(dict(arguments))
        worst = sorted(errors, key=lambda error: [str(part) for part in error.absolute_path])[:5]
        found = [(error.json_path, error.message[:300]) for error in worst]
    judge = registry.kind(contract.adapter).misfit
    if not found and (bad := judge(contract.target, contract.config, arguments)):
        found = [(bad.where, bad.text[:300])]
    if contract.resource and not found:
        try:
            resources.name_of(contract.resource, arguments)
        except resources.Nameless as nameless:
            return [nameless.reason]
    text = _("The call does not fit the tool: %(where)s: %(problem)s")
    return [Reason(MISFIT, text, {"where": where, "problem": problem}) for where, problem in found]


@functools.lru_cache(maxsize=256)
def validator(schema: str) -> Draft202012Validator:
    """The compiled form of a JSON Schema. References to other documents are not fetched, they are errors."""
    return Draft202012Validator(json.loads(schema), registry=referencing.Registry())
