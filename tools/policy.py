"""The rules over arguments that a contract carries. Pure: what came before a call is handed in.

A policy is a JSON object; every part is optional::

    {"path": "approval",                 # never automatic, whatever the class
     "role": "approver", "quorum": 1,    # who must agree, and how many
     "group": "Finance",                 # of those with the role only its members
     "editor_may_approve": false,        # whoever changed the arguments may agree too, with a reason
     "remind_after_seconds": 14400,      # they are reminded then; 0: never
     "escalate_after_seconds": 86400,    # the escalation owner is told then; 0: never
     "rules": [{"argument": "invoice.amount", "over": "1000.00", "then": "approval", "quorum": 2,
                "why": "Amounts over 1000 need two people."},
               {"argument": "amount", "total_over": 5000, "per": "run", "tools": ["pay.other"], "then": "blocked"},
               {"all": [{"argument": "to", "not_ends_with": "@linden.example"},
                        {"argument": "text", "longer_than": 2000}], "then": "approval"}]}

``argument`` is a path of names joined by dots; ``*`` is each element of a list, and one that matches is enough. One
comparison each, see :data:`tools.compare.COMPARISONS`. ``total_over`` adds up the argument over all calls of this tool, and
of ``tools``, in the same ``run`` or in the last 24 hours of the tenant (``day``), this call among them. ``then`` is
``approval`` or ``blocked``. A rule whose argument is missing or of another kind applies: what cannot be judged is not let
through. With ``optional`` an argument that is missing is no reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from accounts.models import Role
from tools import compare
from tools.compare import COMPARISONS

#: What the desk keeps with a question as it stands in the policy, when it says anything.
TERMS = ("group", "editor_may_approve", "remind_after_seconds", "escalate_after_seconds")
PARTS = {"path", "role", "quorum", "rules", *TERMS}
LONGEST_NAME = 80
LONGEST_WAIT = 31_536_000
PERIODS = ("run", "day")
CONDITION = {"argument", "optional", "per", "tools", *COMPARISONS}
CONSEQUENCE = {"then", "quorum", "why"}
MOST_CONDITIONS = 5
ENDS = (".", "!", "?", "…", "。", "！", "？")
MOST_TOOLS = 20


@dataclass(slots=True)
class Earlier:
    """A call that was proposed before and may happen or has happened. ``run``: in the same run; ``day``: in the last 24
    hours."""

    tool: str
    arguments: Mapping[str, Any]
    run: bool = True
    day: bool = True
    _added: dict[str, Decimal | None] = field(default_factory=dict)

    def amount(self, path: str) -> Decimal | None:
        """What it adds to a total; None when that cannot be told."""
        if path not in self._added:
            values = compare.found(self.arguments, path)
            self._added[path] = None if values is None else compare.added(values)
        return self._added[path]


@dataclass(frozen=True, slots=True)
class Total:
    """A sum that a rule looked at: before the call and with it, None when it cannot be told; how much is free."""

    before: Decimal | None
    now: Decimal | None
    most: Decimal
    per: str


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule that applies, with the total that made it do so."""

    why: str
    total: Total | None = None


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the policy says to a call: ``blocked`` and ``approval`` are the rules that applied."""

    role: str
    quorum: int
    always_asks: bool
    blocked: Sequence[Applied]
    approval: Sequence[Applied]


def apply(
    policy: Mapping[str, Any],
    arguments: Mapping[str, Any],
    *,
    tool: str = "",
    earlier: Sequence[Earlier] = (),
) -> Ruled:
    """The policy's word on these arguments, after what came ``earlier``; ``tool`` is the name of the one that is called."""
    found = [(rule, _applied(rule, arguments, tool, earlier)) for rule in policy.get("rules", ())]
    applied = [(rule, one) for rule, one in found if one is not None]
    return Ruled(
        role=str(policy.get("role", Role.APPROVER.value)),
        quorum=max([int(policy.get("quorum", 1)), *(int(rule.get("quorum", 1)) for rule, _one in applied)]),
        always_asks=policy.get("path") == "approval",
        blocked=[one for rule, one in applied if rule["then"] == "blocked"],
        approval=[one for rule, one in applied if rule["then"] == "approval"],
    )


def terms(policy: Mapping[str, Any]) -> dict[str, Any]:
    """The group, the editors and the times that a policy names; what it leaves out stays out."""
    return {name: policy[name] for name in TERMS if policy.get(name)}


def conditions(rule: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """What must all be so for a rule to apply: its ``all``, or itself."""
    several: Sequence[Mapping[str, Any]] = rule.get("all", [rule])
    return several


def comparison(condition: Mapping[str, Any]) -> str:
    """Which one a condition makes; ``is`` when it makes none."""
    return next((name for name in COMPARISONS if name in condition), "is")


def totals(policy: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The conditions over sums. While there are none, nobody needs to know what came before."""
    rules = policy.get("rules", ())
    return [one for rule in rules for one in conditions(rule) if "total_over" in one]


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
    found += _term_faults(policy)
    rules = policy.get("rules", [])
    if not isinstance(rules, list):
        return [*found, "'rules' is not a list"]
    for number, rule in enumerate(rules, 1):
        found += [f"rule {number}: {fault}" for fault in _rule_faults(rule)]
    return found


def _term_faults(policy: Mapping[str, Any]) -> list[str]:
    found = []
    group = policy.get("group", "")
    if not isinstance(group, str) or len(group) > LONGEST_NAME or group != " ".join(group.split()):
        found.append("'group' is not the name of a group")
    if not isinstance(policy.get("editor_may_approve", False), bool):
        found.append("'editor_may_approve' is neither true nor false")
    for name in ("remind_after_seconds", "escalate_after_seconds"):
        after = policy.get(name, 0)
        if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after <= LONGEST_WAIT:
            found.append(f"'{name}' is not a number of seconds from 0 to {LONGEST_WAIT}")
    return found


def _rule_faults(rule: Any) -> list[str]:
    if not isinstance(rule, Mapping):
        return ["it is not an object"]
    found = []
    if "all" in rule:
        found += [f"{name!r} is no part of a rule" for name in sorted(set(rule) - CONSEQUENCE - {"all"})]
        several = rule["all"]
        if not isinstance(several, list) or not 2 <= len(several) <= MOST_CONDITIONS:
            found.append(f"'all' is not a list of 2 to {MOST_CONDITIONS} conditions")
        else:
            for number, one in enumerate(several, 1):
                found += [f"condition {number}: {fault}" for fault in _condition_faults(one, "condition")]
    else:
        mine = {name: value for name, value in rule.items() if name not in CONSEQUENCE}
        found += _condition_faults(mine, "rule")
    if rule.get("then") not in ("approval", "blocked"):
        found.append("'then' is neither 'approval' nor 'blocked'")
    if not _count(rule.get("quorum", 1)):
        found.append("'quorum' is not a number of people from 1 to 20")
    if not isinstance(rule.get("why", ""), str):
        found.append("'why' is not a text")
    return found


def _condition_faults(one: Any, kind: str) -> list[str]:
    if not isinstance(one, Mapping):
        return ["it is not an object"]
    found = [f"{name!r} is no part of a {kind}" for name in sorted(set(one) - CONDITION)]
    used = [name for name in COMPARISONS if name in one]
    if len(used) != 1:
        found.append("it needs exactly one comparison")
    elif problem := compare.fault(used[0], one[used[0]]):
        found.append(problem)
    argument = one.get("argument")
    if not isinstance(argument, str) or not argument:
        found.append("it names no argument")
    elif not all(argument.split(".")):
        found.append("a part of its argument is empty")
    if not isinstance(one.get("optional", False), bool):
        found.append("'optional' is neither true nor false")
    if used != ["total_over"]:
        found += [f"{name!r} belongs to 'total_over'" for name in ("per", "tools") if name in one]
        return found
    if one.get("per", "run") not in PERIODS:
        found.append("'per' is neither 'run' nor 'day'")
    tools = one.get("tools", [])
    if not isinstance(tools, list) or len(tools) > MOST_TOOLS or not all(_name(name) for name in tools):
        found.append(f"'tools' is not a list of at most {MOST_TOOLS} names")
    return found


def _applied(
    rule: Mapping[str, Any], arguments: Mapping[str, Any], tool: str, earlier: Sequence[Earlier]
) -> Applied | None:
    """The rule, if all of its conditions apply."""
    total: Total | None = None
    for one in conditions(rule):
        values = compare.found(arguments, one["argument"])
        if values is None and one.get("optional"):
            return None
        if "total_over" in one:
            total = _total(one, values, tool, earlier)
            if total.now is not None and total.now <= total.most:
                return None
        elif values is not None:
            how = comparison(one)
            if not any(compare.applies(how, one[how], value) for value in values):
                return None
    return Applied(_why(rule), total)


def _total(
    one: Mapping[str, Any], values: Sequence[Any] | None, tool: str, earlier: Sequence[Earlier]
) -> Total:
    per = str(one.get("per", "run"))
    group = {tool, *one.get("tools", ())}
    counted = [call for call in earlier if call.tool in group and (call.day if per == "day" else call.run)]
    before: Decimal | None = Decimal(0)
    for call in counted:
        amount = call.amount(one["argument"])
        before = None if amount is None or before is None else compare.EXACT.add(before, amount)
    mine = None if values is None else compare.added(values)
    now = None if mine is None or before is None else compare.EXACT.add(before, mine)
    return Total(before, now, compare.number(one["total_over"]) or Decimal(0), per)


def _why(rule: Mapping[str, Any]) -> str:
    names = " and ".join(repr(one["argument"]) for one in conditions(rule))
    return sentence(str(rule.get("why") or f"A rule on {names} applies."))


def sentence(why: str) -> str:
    """What a person wrote, as a sentence that another one can follow."""
    said = why.strip()
    return said if said.endswith(ENDS) else f"{said}."


def _name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 20
