"""Who must agree, and the rules over the arguments."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import Role
from tools import policy as policies

EMPTY_RULES = 2
MOST_RULES = 50


class PolicyForm(forms.Form):
    """Who must agree, before the rules."""

    always = forms.BooleanField(required=False, label=_("A person agrees to every call"))
    role = forms.ChoiceField(choices=Role.choices, label=_("Who may agree"))
    quorum = forms.IntegerField(min_value=1, max_value=20, label=_("How many of them"))


class RuleForm(forms.Form):
    """One rule over the arguments. A line without an argument is no rule."""

    WORDS = {
        "over": _("is above"),
        "under": _("is below"),
        "is": _("is"),
        "one_of": _("is one of"),
        "not_one_of": _("is none of"),
    }

    argument = forms.CharField(max_length=200, required=False, label=_("If"))
    comparison = forms.ChoiceField(choices=list(WORDS.items()), required=False, label=_("compares"))
    value = forms.CharField(max_length=500, required=False, label=_("value"))
    then = forms.ChoiceField(
        choices=[("approval", _("a person agrees")), ("blocked", _("blocked"))],
        required=False,
        label=pgettext_lazy("rule", "Then"),
    )
    quorum = forms.IntegerField(
        min_value=1, max_value=20, required=False, label=pgettext_lazy("rule", "People")
    )
    why = forms.CharField(max_length=300, required=False, label=_("Why"))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("argument") and given.get("comparison") in ("over", "under"):
            try:
                float(given.get("value") or "")
            except ValueError:
                self.add_error("value", _("Above and below compare numbers."))
        return given

    def rule(self) -> dict[str, Any] | None:
        """The rule as it is stored; None for an empty line."""
        given = self.cleaned_data
        if not given.get("argument"):
            return None
        how = given.get("comparison") or "is"
        made: dict[str, Any] = {
            "argument": given["argument"].strip(),
            how: _value(how, given.get("value") or ""),
        }
        made["then"] = given.get("then") or "approval"
        if given.get("quorum") and made["then"] == "approval":
            made["quorum"] = given["quorum"]
        if given.get("why"):
            made["why"] = given["why"]
        return made


RuleFormSet = forms.formset_factory(RuleForm, extra=EMPTY_RULES, max_num=MOST_RULES, validate_max=True)


def rule_lines(policy: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The stored rules as lines of the form."""
    return [_line(rule) for rule in policy.get("rules", ()) if isinstance(rule, Mapping)]


def policy_of(form: PolicyForm, rules: Any) -> dict[str, Any]:
    """The policy as it is stored: what says nothing beyond the default is left out. Both forms are valid."""
    given = form.cleaned_data
    made: dict[str, Any] = {}
    if given["role"] != Role.APPROVER:
        made["role"] = given["role"]
    if given["quorum"] != 1:
        made["quorum"] = given["quorum"]
    if given["always"]:
        made["path"] = "approval"
    if found := [rule for line in rules if (rule := line.rule())]:
        made["rules"] = found
    return made


def _line(rule: Mapping[str, Any]) -> dict[str, Any]:
    how = next((name for name in policies.COMPARISONS if name in rule), "is")
    value = rule.get(how, "")
    shown = ", ".join(_word(one) for one in value) if isinstance(value, list) else _word(value)
    kept = {name: rule[name] for name in ("argument", "then", "quorum", "why") if name in rule}
    return {**kept, "comparison": how, "value": shown}


def _word(value: Any) -> str:
    """A value as it is typed: text that would be read as something else stands in quotes."""
    if isinstance(value, str) and not isinstance(_typed(value), str):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(how: str, text: str) -> Any:
    if how in ("one_of", "not_one_of"):
        return [_typed(part.strip()) for part in text.split(",") if part.strip()]
    return _typed(text.strip())


def _typed(text: str) -> Any:
    """A number, true, false or null as such, text in quotes or without as text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) or value is None else text
