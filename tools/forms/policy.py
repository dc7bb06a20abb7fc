"""Who must agree, and the rules over the arguments."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import Role
from tools import compare
from tools import policy as policies
from tools.forms.fields import Span, Words

EMPTY_RULES = 2
MOST_RULES = 50


class PolicyForm(forms.Form):
    """Who must agree, before the rules. ``groups`` are the names of the tenant's groups."""

    always = forms.BooleanField(required=False, label=_("A person agrees to every call"))
    role = forms.ChoiceField(choices=Role.choices, label=_("Who may agree"))
    group = forms.ChoiceField(
        required=False,
        label=_("Of these only the group"),
        help_text=_("Its members, as far as they hold the role."),
    )
    quorum = forms.IntegerField(min_value=1, max_value=20, label=_("How many of them"))
    remind_after = Span(
        most=policies.LONGEST_WAIT,
        label=_("They are reminded after"),
        help_text=_(
            "For example 4 h, 30 min or 2 days; a number alone is hours. Up to three times, each time after twice "
            "as long. Empty: never."
        ),
    )
    escalate_after = Span(
        most=policies.LONGEST_WAIT,
        label=_("It goes to the escalation owner after"),
        help_text=_("The owner is told that it still waits. Before it expires. Empty: never."),
    )
    editor_may_approve = forms.BooleanField(
        required=False,
        label=_("Whoever changes the arguments may also approve them"),
        help_text=_("With a reason, which is shown in red. Otherwise somebody else has to."),
    )

    def __init__(self, *args: Any, groups: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.initial.get("group") or ""
        known = [*groups, stored] if stored and stored not in groups else groups
        field = self.fields["group"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("everybody with the role")), *((name, name) for name in known)]


TIMES = ("remind_after", "escalate_after")
#: Two comparisons of the form are one of the policy, over different times.
TOTALS = {"total_run": "run", "total_day": "day"}


class RuleForm(forms.Form):
    """One rule over the arguments, or one more condition of the rule in the line before. A line without an argument is
    neither."""

    WORDS = {
        "over": _("is above"),
        "under": _("is below"),
        "total_run": _("in total of the task is above"),
        "total_day": _("in total of 24 hours is above"),
        "is": _("is"),
        "one_of": _("is one of"),
        "not_one_of": _("is none of"),
        "starts_with": _("begins with"),
        "not_starts_with": _("does not begin with"),
        "ends_with": _("ends with"),
        "not_ends_with": _("does not end with"),
        "longer_than": _("has more characters than"),
    }
    #: What few rules need; the page folds it away.
    MORE = ("joins", "optional", "tools")

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
    joins = forms.BooleanField(required=False, label=_("Only together with the line before"))
    optional = forms.BooleanField(required=False, label=_("A call without this argument is no concern"))
    tools = Words(
        required=False,
        label=_("Added up with other tools"),
        help_text=_("For totals. Names of tools, separated by commas."),
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        how, value = given.get("comparison"), (given.get("value") or "").strip()
        if not given.get("argument"):
            return given
        if how in ("over", "under", *TOTALS) and compare.number(value) is None:
            self.add_error("value", _("Above and below compare numbers: digits, with a point if need be."))
        if how == "longer_than" and not (value.isascii() and value.isdigit() and len(value) < 10):
            self.add_error("value", _("A whole number of characters is needed."))
        if how in compare.TEXTUAL and not value:
            self.add_error("value", _("A text is needed."))
        return given

    def shown(self) -> list[forms.BoundField]:
        """What every rule says."""
        return [self[name] for name in self.fields if name not in self.MORE]

    def folded(self) -> list[forms.BoundField]:
        """What few rules say."""
        return [self[name] for name in self.MORE]

    @property
    def says_more(self) -> bool:
        return any(self[name].value() for name in self.MORE)

    def condition(self) -> dict[str, Any] | None:
        """What the line asks; None for an empty line."""
        given = self.cleaned_data
        if not given.get("argument"):
            return None
        how = given.get("comparison") or "is"
        made: dict[str, Any] = {"argument": given["argument"].strip()}
        if how in TOTALS:
            made |= {"total_over": (given.get("value") or "").strip(), "per": TOTALS[how]}
            if given.get("tools"):
                made["tools"] = given["tools"]
        else:
            made[how] = _value(how, given.get("value") or "")
        if given.get("optional"):
            made["optional"] = True
        return made

    def consequence(self) -> dict[str, Any]:
        """What follows when it applies."""
        given = self.cleaned_data
        made: dict[str, Any] = {"then": given.get("then") or "approval"}
        if given.get("quorum") and made["then"] == "approval":
            made["quorum"] = given["quorum"]
        if given.get("why"):
            made["why"] = given["why"]
        return made


RuleFormSet = forms.formset_factory(RuleForm, extra=EMPTY_RULES, max_num=MOST_RULES, validate_max=True)


def rule_lines(policy: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The stored rules as lines of the form."""
    lines = []
    for rule in policy.get("rules", ()):
        if isinstance(rule, Mapping):
            for place, one in enumerate(policies.conditions(rule)):
                kept = {name: rule[name] for name in ("then", "quorum", "why") if name in rule}
                lines.append({**({"joins": True} if place else kept), **_line(one)})
    return lines


def rules_of(lines: Iterable[RuleForm]) -> list[dict[str, Any]]:
    """The rules that the lines make; a line that joins adds its condition to the rule before."""
    made: list[dict[str, Any]] = []
    for line in lines:
        one = line.condition()
        if one is None:
            continue
        if not line.cleaned_data.get("joins") or not made:
            made.append({**one, **line.consequence()})
        else:
            last = made[-1]
            first = {name: value for name, value in last.items() if name not in policies.CONSEQUENCE}
            kept = {name: value for name, value in last.items() if name in policies.CONSEQUENCE}
            made[-1] = {"all": [*first.get("all", [first]), one], **kept}
    return made


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
    if given["group"]:
        made["group"] = given["group"]
    if given["editor_may_approve"]:
        made["editor_may_approve"] = True
    for name in TIMES:
        if given[name]:
            made[f"{name}_seconds"] = given[name]
    if found := rules_of(rules):
        made["rules"] = found
    return made


def policy_began(policy: Mapping[str, Any]) -> dict[str, Any]:
    """What the form of a stored policy begins with."""
    return {
        "always": policy.get("path") == "approval",
        "role": policy.get("role", Role.APPROVER.value),
        "quorum": policy.get("quorum", 1),
        "group": policy.get("group", ""),
        "editor_may_approve": policy.get("editor_may_approve", False),
        **{name: policy.get(f"{name}_seconds", 0) for name in TIMES},
    }


def _line(one: Mapping[str, Any]) -> dict[str, Any]:
    how = policies.comparison(one)
    value = one.get(how, "")
    shown = ", ".join(_word(each) for each in value) if isinstance(value, list) else _word(value)
    if how in compare.NUMERIC:
        shown = str(value)
    if how == "total_over":
        how = f"total_{one.get('per', 'run')}"
    kept = {name: one[name] for name in ("argument", "optional", "tools") if name in one}
    return {**kept, "comparison": how, "value": shown}


def _word(value: Any) -> str:
    """A value as it is typed: text that would be read as something else stands in quotes."""
    if isinstance(value, str) and not isinstance(_typed(value), str):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(how: str, text: str) -> Any:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if how in ("one_of", "not_one_of"):
        return [_typed(part) for part in parts]
    if how in compare.TEXTUAL:
        return parts if len(parts) > 1 else text.strip()
    if how in ("over", "under"):
        # As it was typed: a double would not hold every amount of money.
        typed = _typed(text.strip())
        return typed if isinstance(typed, int) and str(typed) == text.strip() else text.strip()
    return _typed(text.strip())


def _typed(text: str) -> Any:
    """A number, true, false or null as such, text in quotes or without as text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) or value is None else text
