"""How a contract can contradict itself. A contract with a problem is not published. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import referencing.exceptions
from django.utils.translation import gettext_noop as _
from jsonschema import SchemaError

from tools import compensation, resources, result_query
from tools import policy as policies
from tools.adapters import registry
from tools.gate import ONLY_PROPOSED, facts, validator
from tools.models import Contract, EffectClass, Risk
from tools.reasons import Problem

ADAPTERS = registry.NAMES
_HOST = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?|\[[0-9a-f:.]+\](?::[0-9]{1,5})?"
)


#: No contract may ask for more attempts (S7).
MOST_ATTEMPTS = 20


def contradictions(contract: Contract, *, tools: Mapping[str, Contract] | None = None) -> list[Problem]:
    """Everything that speaks against publishing. ``tools`` are the contracts in force that it names; without them those
    questions are left open. Whether there are people enough is said by ``tools.staffing``."""
    found = [
        *_effect(contract),
        *compensation.problems(contract, tools),
        *_repetition(contract),
        *_time(contract),
        *_form(contract),
        *_limits(contract),
    ]
    if policy_faults := policies.faults(contract.policy):
        text = _("The policy cannot be applied: %(faults)s.")
        found.append(Problem("policy_form", text, {"faults": "; ".join(policy_faults)}, "policy"))
    return found


def _limits(contract: Contract) -> Iterator[Problem]:
    """Quotas, and the order on a resource."""
    for field in ("quota_per_hour", "quota_per_minute"):
        if getattr(contract, field) == 0:
            text = _("A quota of 0 lets no call through: pause the tool instead.")
            yield Problem("quota_zero", text, where=field)
    hour, minute = contract.quota_per_hour, contract.quota_per_minute
    if hour and minute and minute > hour:
        text = _("%(minute)s calls a minute are never reached under %(hour)s calls an hour.")
        yield Problem("quota_unreachable", text, {"minute": minute, "hour": hour}, "quota_per_minute")
    if contract.fence_rule == Contract.FenceRule.NONE:
        if contract.resource:
            text = _("A resource is named, but no rule for the order on it.")
            yield Problem("resource_without_rule", text, where="fence_rule")
        return
    if not contract.resource:
        text = _("A rule for the order on a resource is given, but no resource.")
        yield Problem("fence_without_resource", text, where="resource")
    if contract.effect_class == EffectClass.READ_ONLY:
        text = _("What only reads needs no order on a resource.")
        yield Problem("fence_of_read_only", text, where="fence_rule")
    yield from _template(contract)


def _template(contract: Contract) -> Iterator[Problem]:
    try:
        named = resources.arguments_of(contract.resource)
    except ValueError as wrong:
        text = _("The name of the resource cannot be read: %(problem)s.")
        yield Problem("resource_form", text, {"problem": str(wrong)}, "resource")
        return
    for name in named:
        if not resources.described(name, contract.input_schema):
            text = _(
                "The resource is named by %(name)s, which the schema of the arguments does not describe."
            )
            yield Problem("resource_unknown_argument", text, {"name": name}, "resource")


def asks(contract: Contract) -> bool:
    """Some call under this contract would need a person."""
    known = facts(contract)
    repeatable = known.native_idempotency or known.proxy_dedup
    return (
        known.effect_class == EffectClass.IRREVERSIBLE
        or known.concerns in ONLY_PROPOSED
        or (known.effect_class != EffectClass.READ_ONLY and known.risk == Risk.HIGH and not repeatable)
        or policies.may_ask(known.policy)
    )


def _effect(contract: Contract) -> Iterator[Problem]:
    if contract.effect_class == EffectClass.READ_ONLY and contract.concerns in ONLY_PROPOSED:
        text = _("It is declared read-only and yet touches money, commitments or permissions.")
        yield Problem("read_only_concerns", text, where="effect_class")
    if contract.effect_class == EffectClass.COMPENSABLE and not contract.compensating_tool:
        text = _("It is declared undoable, but no tool is named that undoes it.")
        yield Problem("compensation_missing", text, where="compensating_tool")
    if contract.effect_class == EffectClass.IRREVERSIBLE and contract.compensating_tool:
        text = _("It is declared irreversible, but a tool is named that undoes it.")
        yield Problem("compensation_impossible", text, where="compensating_tool")
    if contract.compensating_tool and contract.compensating_tool == contract.tool.name:
        yield Problem("compensation_self", _("A tool cannot undo itself."), where="compensating_tool")


def _repetition(contract: Contract) -> Iterator[Problem]:
    effect = contract.effect_class != EffectClass.READ_ONLY
    if effect and contract.retry_safe and not (contract.native_idempotency or contract.result_query):
        text = _("It is declared safe to repeat, but the other side neither knows our key nor can be asked.")
        yield Problem("retry_without_key", text, where="retry_safe")
    if contract.key_memory_seconds and not contract.native_idempotency:
        text = _("A time for remembering keys is given, but the other side knows no keys.")
        yield Problem("memory_without_key", text, where="key_memory_seconds")
    longest = contract.max_total_seconds + (contract.approval_ttl_seconds if asks_safely(contract) else 0)
    if contract.native_idempotency and 0 < contract.key_memory_seconds < longest:
        text = _(
            "The other side forgets a key after %(memory)s s, but a repeat may come after %(longest)s s."
        )
        params = {"memory": contract.key_memory_seconds, "longest": longest}
        yield Problem("key_forgotten", text, params, "key_memory_seconds")
    yield from _query(contract)
    if contract.max_attempts > MOST_ATTEMPTS:
        text = _("More than %(most)s attempts are not made.")
        yield Problem("attempts_unbounded", text, {"most": MOST_ATTEMPTS}, "max_attempts")
    if contract.fallback_tool and effect:
        text = _("An effect has no fallback: another effect is another decision.")
        yield Problem("fallback_of_effect", text, where="fallback_tool")
    if contract.fallback_tool and contract.fallback_tool == contract.tool.name:
        yield Problem("fallback_self", _("A tool cannot stand in for itself."), where="fallback_tool")
    if both := sorted(set(contract.retryable_codes) & set(contract.fatal_codes)):
        text = _("These codes are both to be repeated and not to be repeated: %(codes)s.")
        yield Problem("codes_twice", text, {"codes": ", ".join(both)}, "retryable_codes")


def _query(contract: Contract) -> Iterator[Problem]:
    """Whether the named tool is there and only reads is seen when it is published (``tools.publish``)."""
    if not contract.result_query:
        if contract.query_arguments or contract.query_answer:
            text = _("It is said how to ask whether it happened, but no tool is named that asks.")
            yield Problem("query_missing", text, where="result_query")
        return
    if contract.effect_class == EffectClass.READ_ONLY:
        text = _("A tool that only reads needs no other that asks whether it happened.")
        yield Problem("query_of_reading", text, where="result_query")
    if contract.result_query == contract.tool.name:
        yield Problem("query_self", _("A tool cannot ask about itself."), where="result_query")
    yield from result_query.faults(contract.query_arguments, contract.query_answer)


def asks_safely(contract: Contract) -> bool:
    """As :func:`asks`, for a policy that may be malformed: then it counts as asking."""
    return bool(policies.faults(contract.policy)) or asks(contract)


def _time(contract: Contract) -> Iterator[Problem]:
    if contract.timeout_seconds > contract.max_total_seconds:
        text = _("One attempt may take %(timeout)s s, but all attempts together only %(total)s s.")
        params = {"timeout": contract.timeout_seconds, "total": contract.max_total_seconds}
        yield Problem("timeout_beyond_total", text, params, "timeout_seconds")
    if contract.approval_ttl_seconds < 1:
        text = _("An approval would expire the moment it is asked for.")
        yield Problem("approval_ttl", text, where="approval_ttl_seconds")
    if not policies.faults(contract.policy):
        yield from _told(contract)


def _told(contract: Contract) -> Iterator[Problem]:
    """Who is told of a question that waits: first those who may agree, then the escalation owner, then it is too late."""
    ends = contract.approval_ttl_seconds
    remind = contract.policy.get("remind_after_seconds", 0)
    escalate = contract.policy.get("escalate_after_seconds", 0)
    if escalate and escalate >= ends:
        text = _("It would be escalated after %(after)s s, when it has expired already: after %(ends)s s.")
        yield Problem("escalation_after_expiry", text, {"after": escalate, "ends": ends}, "policy")
    if remind and remind >= ends:
        text = _("People would be reminded after %(after)s s, when it has expired already: after %(ends)s s.")
        yield Problem("reminder_after_expiry", text, {"after": remind, "ends": ends}, "policy")
    if remind and escalate and remind >= escalate:
        text = _(
            "People would be reminded after %(after)s s, when it was escalated already: after %(ends)s s."
        )
        yield Problem("reminder_after_escalation", text, {"after": remind, "ends": escalate}, "policy")


def _form(contract: Contract) -> Iterator[Problem]:
    if contract.adapter not in ADAPTERS:
        text = _("There is no adapter %(adapter)s.")
        yield Problem("adapter_unknown", text, {"adapter": contract.adapter or "''"}, "adapter")
    for fault in registry.kind(contract.adapter).faults(contract):
        yield Problem(fault.code, fault.text, fault.params, fault.where)
    for host in contract.egress_hosts:
        if not _HOST.fullmatch(host):
            text = _("%(host)s is not a host name in lower case, with or without a port.")
            yield Problem("egress_host", text, {"host": host}, "egress_hosts")
    for where in ("input_schema", "output_schema"):
        if problem := schema_fault(getattr(contract, where)):
            text = _("The schema cannot be used: %(problem)s")
            yield Problem("schema", text, {"problem": problem}, where)


def schema_fault(schema: Any) -> str:
    """Why a JSON Schema cannot be used; empty when it can. A reference that leads outside is a fault."""
    try:
        compiled = validator(json.dumps(schema, sort_keys=True))
        compiled.check_schema(schema)
        for outside in _references(schema):
            return f"it refers to {outside}, which is outside of it"
    except SchemaError as error:
        return error.message[:300]
    except (TypeError, ValueError, referencing.exceptions.Unresolvable) as error:
        return str(error)[:300]
    return ""


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for name in ("$ref", "$dynamicRef"):
            if isinstance(schema.get(name), str) and not schema[name].startswith("#"):
                yield schema[name]
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
