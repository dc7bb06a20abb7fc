"""What a tool can and cannot do, in words, from the contract facts in the shown bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from approvals.present.parts import Check
from tools.models import EffectClass


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """Name, version and the facts that matter before a yes."""

    name: str
    version: int
    checks: tuple[Check, ...]


def tool(shown: Mapping[str, Any]) -> ToolFacts:
    """The facts of the contract that the action is bound to."""
    facts: Mapping[str, Any] = shown.get("contract") or {}
    checks = (_undo(facts), _repeat(facts), _query(facts))
    return ToolFacts(str(shown.get("tool", "")), int(shown.get("contract_version") or 0), checks)


def _undo(facts: Mapping[str, Any]) -> Check:
    if facts.get("effect_class") == EffectClass.IRREVERSIBLE:
        mail = facts.get("adapter") == "smtp"
        return Check("no", _("Nothing undoes a sent e-mail") if mail else _("Nothing undoes it"))
    if facts.get("effect_class") == EffectClass.READ_ONLY:
        return Check("ok", _("It only reads"))
    undo = facts.get("compensating_tool")
    return Check("ok", _("It can be undone, by %s") % undo if undo else _("It can be undone"))


def _repeat(facts: Mapping[str, Any]) -> Check:
    if facts.get("native_idempotency"):
        return Check("ok", _("At most once: the other side refuses the same key a second time"))
    return Check(
        "ok", _("Sent at most once; when nobody can tell, a person settles it before anything is sent again")
    )


def _query(facts: Mapping[str, Any]) -> Check:
    if facts.get("result_query"):
        return Check("ok", _("The other side can be asked afterwards"))
    return Check("warn", _("The other side cannot be asked afterwards whether it arrived"))
