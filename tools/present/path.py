"""The path of a tool in general and for one call, in words."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from tools import gate, spans
from tools import policy as policies
from tools.forms import RuleForm
from tools.models import Contract, Tool


@dataclass(frozen=True, slots=True)
class PathToday:
    """``tone`` and ``mark`` dress the ``word``; ``why`` are sentences."""

    tone: str
    mark: str
    word: str
    why: Sequence[str]


def general(contract: Contract | None) -> PathToday:
    """What happens to a call before its arguments are known. Rules that depend on them are told after it."""
    if contract is None:
        return PathToday(
            "stopped", "tocome", _("Not in force"), [_("No version is published: nobody can call it.")]
        )
    known = gate.facts(contract)
    rules = list(known.policy.get("rules", ()))
    bare = dataclasses.replace(
        known,
        adapter="python",
        input_schema={},
        policy={k: v for k, v in known.policy.items() if k != "rules"},
    )
    verdict = gate.decide(contract=bare, arguments={}, run=gate.RunFacts())
    why = [str(reason) for reason in verdict.reasons]
    if verdict.path == "approval":
        why.append(people(verdict.policy))
    return dataclasses.replace(look(verdict), why=[*why, *(rule_words(rule) for rule in rules)])


def look(verdict: gate.Verdict) -> PathToday:
    """A verdict in a word, with its reasons."""
    reasons = [str(reason) for reason in verdict.reasons]
    match verdict.path:
        case "auto":
            return PathToday("running", "auto", _("Runs by itself"), reasons)
        case "approval":
            word = ngettext("%s person must agree", "%s people must agree", int(verdict.policy["quorum"]))
            return PathToday("waiting", "waiting", word % verdict.policy["quorum"], reasons)
        case _:
            return PathToday("failed", "failed", _("Blocked"), reasons)


def people(policy: dict[str, Any]) -> str:
    """Who must agree."""
    roles = {value: str(label) for value, label in _roles()}
    quorum = int(policy["quorum"])
    named = {
        "n": quorum,
        "role": roles.get(str(policy["role"]), policy["role"]),
        "group": policy.get("group"),
    }
    text = ngettext("%(n)s person agrees (%(role)s).", "%(n)s people agree (%(role)s).", quorum)
    if named["group"]:
        text = ngettext(
            "%(n)s person agrees (%(role)s in the group %(group)s).",
            "%(n)s people agree (%(role)s in the group %(group)s).",
            quorum,
        )
    return text % named


def rule_words(rule: dict[str, Any]) -> str:
    """A rule as a sentence, with the reason that its author gave."""
    then = (
        _("blocked")
        if rule.get("then") == "blocked"
        else ngettext("%s person agrees", "%s people agree", int(rule.get("quorum", 1)))
        % rule.get("quorum", 1)
    )
    conditions = _(" and ").join(_condition_words(one) for one in policies.conditions(rule))
    sentence = _("If %(conditions)s: %(then)s.") % {"conditions": conditions, "then": then}
    return f"{sentence} {rule['why']}" if rule.get("why") else sentence


def _condition_words(one: Mapping[str, Any]) -> str:
    how = policies.comparison(one)
    value = one.get(how)
    shown = ", ".join(str(each) for each in value) if isinstance(value, list) else str(value)
    words = RuleForm.WORDS[f"total_{one.get('per', 'run')}" if how == "total_over" else how]
    named = str(one.get("argument"))
    if one.get("tools"):
        others = ", ".join(one["tools"])
        named = _("%(argument)s (with %(tools)s)") % {"argument": named, "tools": others}
    return _("%(argument)s %(how)s %(value)s") % {"argument": named, "how": words, "value": shown}


def policy_words(policy: dict[str, Any]) -> list[str]:
    """A policy, one sentence a line."""
    found = [_("A person agrees to every call.")] if policy.get("path") == "approval" else []
    found.append(people({"role": "approver", "quorum": 1, **policy}))
    found += _term_words(policy)
    return [*found, *(rule_words(rule) for rule in policy.get("rules", ()))]


def _term_words(policy: dict[str, Any]) -> list[str]:
    found = []
    if after := policy.get("remind_after_seconds"):
        found.append(_("They are reminded after %s.") % spans.words(after))
    if after := policy.get("escalate_after_seconds"):
        found.append(_("It goes to the escalation owner after %s.") % spans.words(after))
    if policy.get("editor_may_approve"):
        found.append(_("Whoever changes the arguments may also approve them, with a reason."))
    return found


def after_a_crash(contract: Contract) -> list[tuple[bool, str]]:
    """May it be repeated, can it be checked: yes or no, and how."""
    if contract.native_idempotency:
        repeat = (True, _("repeat by key"))
    elif contract.effect_class == "read_only":
        repeat = (True, _("repeat: it only reads"))
    else:
        repeat = (False, _("repeat not safe"))
    if contract.effect_class == "read_only":
        return [repeat]
    check = (
        (True, _("check with %s") % contract.result_query)
        if contract.result_query
        else (False, _("no check"))
    )
    return [repeat, check]


def paused(tool: Tool) -> PathToday:
    """Somebody stopped it."""
    if tool.paused_by is None:
        return PathToday("stopped", "paused", _("Quarantined"), [tool.paused_reason])
    name = tool.paused_by.name
    why = _("By %(name)s: “%(reason)s”. What waits for it is kept.") % {
        "name": name,
        "reason": tool.paused_reason,
    }
    return PathToday("stopped", "paused", _("Paused"), [why])


def _roles() -> list[tuple[str, Any]]:
    from accounts.models import Role

    return list(Role.choices)
