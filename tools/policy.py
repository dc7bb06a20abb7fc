"""The rules over arguments that a contract carries. Pure.

A policy is a JSON object; every part is optional::

    {"path": "approval",                 # never automatic, whatever the class
     "role": "approver", "quorum": 1,    # who must agree, and how many
     "rules": [{"argument": "invoice.amount", "over": 1000, "then": "approval", "quorum": 2,
                "why": "Amounts over 1000 need two people."}]}

``argument`` is a path of names joined by dots. One comparison each: ``is``, ``one_of``, ``not_one_of``,
``over``, ``under``. ``then`` is ``approval`` or ``blocked``. A rule whose argument is missing or of another
kind applies: what cannot be judged is not let through.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import Role

PARTS = {"path", "role", "quorum", "rules"}
COMPARISONS = ("is", "one_of", "not_one_of", "over", "under")
RULE_PARTS = {"argument", "then", "quorum", "why", *COMPARISONS}


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the policy says to a call: ``blocked`` and ``approval`` are the whys of the rules that applied."""

    role: str
    quorum: int
    always_asks: bool
    blocked: Sequence[str]
    approval: Sequence[str]


def apply(policy: Mapping[str, Any], arguments: Mapping[str, Any]) -> Ruled:
    """The policy's word on these arguments."""
    applied = [rule for rule in policy.get("rules", ()) if _applies(rule, arguments)]
    return Ruled(
        role=str(policy.get("role", Role.APPROVER.value)),
        quorum=max([int(policy.get("quorum", 1)), *(int(rule.get("quorum", 1)) for rule in applied)]),
        always_asks=policy.get("path") == "approval",
        blocked=[_why(rule) for rule in applied if rule["then"] == "blocked"],
        approval=[_why(rule) for rule in applied if rule["then"] == "approval"],
    )


def highest_quorum(policy: Mapping[str, Any]) -> int:
    """How many people the strictest case needs."""
    return max(
        [int(policy.get("quorum", 1)), *(int(rule.get("quorum", 1)) for rule in policy.get("rules", ()))]
    )


def may_ask(policy: Mapping[str, Any]) -> bool:
    """Some arguments would need a person."""
    return policy.get("path") == "approval" or any(
        rule["then"] == "approval" for rule in policy.get("rules", ())
    )


def faults(policy: Any) -> list[str]:
    """What is wrong with the form of a policy, as plain English; empty when it can be applied."""
    if not isinstance(policy, Mapping):
        return ["it is not an object"]
    found = [f"{name!r} is no part of a policy" for name in sorted(set(policy) - PARTS)]
    if policy.get("path", "auto") not in ("auto", "approval"):
        found.append("'path' is neither 'auto' nor 'approval'")
    if policy.get("role", Role.APPROVER.value) not in Role.values:
        found.append(f"there is no role {policy.get('role')!r}")
    if not _count(policy.get("quorum", 1)):
        found.append("'quorum' is not a number of people from 1 to 20")
    rules = policy.get("rules", [])
    if not isinstance(rules, list):
        return [*found, "'rules' is not a list"]
    for number, rule in enumerate(rules, 1):
        found += [f"rule {number}: {fault}" for fault in _rule_faults(rule)]
    return found


def _rule_faults(rule: Any) -> list[str]:
    if not isinstance(rule, Mapping):
        return ["it is not an object"]
    found = [f"{name!r} is no part of a rule" for name in sorted(set(rule) - RULE_PARTS)]
    used = [name for name in COMPARISONS if name in rule]
    if len(used) != 1:
        found.append("it needs exactly one comparison")
    elif used[0] in ("one_of", "not_one_of") and not isinstance(rule[used[0]], list):
        found.append(f"{used[0]!r} is not a list")
    elif used[0] in ("over", "under") and not _number(rule[used[0]]):
        found.append(f"{used[0]!r} is not a number")
    if not isinstance(rule.get("argument"), str) or not rule["argument"]:
        found.append("it names no argument")
    if rule.get("then") not in ("approval", "blocked"):
        found.append("'then' is neither 'approval' nor 'blocked'")
    if not _count(rule.get("quorum", 1)):
        found.append("'quorum' is not a number of people from 1 to 20")
    return found


def _applies(rule: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    value: Any = arguments
    for name in rule["argument"].split("."):
        if not isinstance(value, Mapping) or name not in value:
            return True
        value = value[name]
    if "is" in rule:
        return bool(value == rule["is"])
    if "one_of" in rule:
        return value in rule["one_of"]
    if "not_one_of" in rule:
        return value not in rule["not_one_of"]
    if not _number(value):
        return True
    return bool(value > rule["over"]) if "over" in rule else bool(value < rule["under"])


def _why(rule: Mapping[str, Any]) -> str:
    return str(rule.get("why") or f"A rule on {rule['argument']!r} applies.")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 20
