"""The form of a contract: it checks what was typed; whether it makes sense together is said by ``tools.contradictions``."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.canonical import BadInput, check_storable, strict_loads
from accounts.models import Role
from tools import openapi
from tools import policy as policies
from tools.contradictions import ADAPTERS
from tools.models import Contract, EffectClass, Risk, Tool

if TYPE_CHECKING:
    _Model = forms.ModelForm[Contract]
else:
    _Model = forms.ModelForm

NAME = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
RESERVED = ("import", "new", "secrets")
EMPTY_RULES = 2
MOST_RULES = 50


#: In the words of people; the stored values are short.
CONCERNS = {
    Contract.Concerns.NOTHING.value: _("nothing in particular"),
    Contract.Concerns.DATA.value: _("data"),
    Contract.Concerns.FUNDS.value: pgettext_lazy("concern", "money"),
    Contract.Concerns.COMMITMENT.value: _("commitments towards others"),
    Contract.Concerns.PERMISSION.value: _("who may do what"),
}
ISOLATION = {
    Contract.Isolation.ASYNC.value: _("an event loop, with many others"),
    Contract.Isolation.THREAD.value: _("a thread"),
    Contract.Isolation.PROCESS.value: _("a process of its own, with limits"),
}


class ToolForm(forms.Form):
    """A new tool: a name for agents, a title for people."""

    name = forms.RegexField(
        NAME,
        max_length=80,
        label=_("Name"),
        help_text=_("As agents call it: small letters, digits, dots and low lines, like crm.create_order."),
    )
    title = forms.CharField(
        max_length=200, label=_("Title"), help_text=_("What people read: “Create an order”.")
    )
    description = forms.CharField(
        max_length=2000, required=False, label=_("Description"), widget=forms.Textarea(attrs={"rows": 3})
    )

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name in RESERVED:
            raise ValidationError(_("This name is taken by a page."))
        return name


class ReasonForm(forms.Form):
    """Why somebody pauses a tool."""

    reason = forms.CharField(
        max_length=500, label=_("Reason"), help_text=_("Shown wherever the tool is shown, with your name.")
    )


class Json(forms.CharField):
    """JSON in a text area: no key twice, no number that is none, no depth without end."""

    widget = forms.Textarea(attrs={"rows": 6, "class": "input mono", "spellcheck": "false"})

    def prepare_value(self, value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value or {}, indent=2, ensure_ascii=False)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        try:
            read = strict_loads(str(value or "{}"))
        except BadInput as bad:
            raise ValidationError(
                _("This is no JSON that can be kept: %(why)s"), params={"why": bad.text}
            ) from bad
        if not isinstance(read, dict):
            raise ValidationError(_("A JSON object is needed, in braces."))
        return read


class Words(forms.CharField):
    """A list, separated by commas or line ends."""

    def prepare_value(self, value: Any) -> str:
        return ", ".join(value) if isinstance(value, list) else str(value or "")

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        words = str(value or "").replace("\n", ",").split(",")
        return [word.strip() for word in words if word.strip()]


class ContractForm(_Model):
    """Everything of a contract except its policy (:class:`PolicyForm`) and the names of other tools, which come with it."""

    config = Json(label=_("Connection"), required=False)
    input_schema = Json(label=_("Schema of the arguments"), required=False)
    output_schema = Json(label=_("Schema of the answer"), required=False)
    retryable_codes = Words(label=_("Worth a repeat"), required=False)
    fatal_codes = Words(label=_("Never repeated"), required=False)
    egress_hosts = Words(label=_("May reach"), required=False)

    class Meta:
        model = Contract
        fields = (
            "effect_class", "concerns", "risk", "weight", "compensating_tool", "compensation_idempotent",
            "native_idempotency", "key_memory_seconds", "enforces_deadline", "result_query", "retry_safe", "cancellable",
            "timeout_seconds", "quiet_seconds", "max_attempts", "max_total_seconds", "backoff_seconds",
            "retryable_codes", "fatal_codes", "fallback_tool", "last_resort", "attempt_tokens", "attempt_cost",
            "adapter", "target", "config", "input_schema", "output_schema",
            "isolation", "memory_mb", "cpu_seconds", "egress_hosts", "data_residency", "approval_ttl_seconds",
        )  # fmt: skip
        labels = {
            "effect_class": _("Class"),
            "concerns": _("What it touches"),
            "risk": _("Risk of a wrong call"),
            "weight": _("Weight in reversible coverage"),
            "compensating_tool": _("Undone by"),
            "compensation_idempotent": _("Undoing may be repeated"),
            "native_idempotency": _("The other side drops a repeat with the same key"),
            "key_memory_seconds": _("It remembers keys for, seconds"),
            "enforces_deadline": _("The other side does not act after the deadline we send"),
            "result_query": _("Can be checked with"),
            "retry_safe": _("Safe to repeat after a known failure"),
            "cancellable": _("Can be stopped at a safe point"),
            "timeout_seconds": _("Time-out, seconds"),
            "quiet_seconds": _("Quiet time, seconds"),
            "max_attempts": _("Tries"),
            "max_total_seconds": _("All tries together, seconds"),
            "backoff_seconds": _("First pause, seconds"),
            "fallback_tool": _("Stands in when all tries failed"),
            "last_resort": _("Who hears of a failure that is left"),
            "attempt_tokens": _("Most tokens of one try"),
            "attempt_cost": _("Most cost of one try"),
            "adapter": _("Called by"),
            "target": _("Target"),
            "isolation": _("Runs in"),
            "memory_mb": _("Memory, MB"),
            "cpu_seconds": _("Processor time, seconds"),
            "data_residency": _("Data stay in"),
            "approval_ttl_seconds": _("A question waits for, seconds"),
        }
        help_texts = {
            "weight": _("Loss of business by a wrong call: 1 light, 10 grave."),
            "key_memory_seconds": _("0: for ever."),
            "result_query": _("A read-only tool that tells what became of a call."),
            "quiet_seconds": _("How long a call may still arrive after its sender is gone."),
            "max_attempts": _("Never after an unknown outcome."),
            "target": _("The name of a function, or an address with {names} of arguments."),
            "approval_ttl_seconds": _("Without an answer it expires, which denies."),
        }
        widgets = {"effect_class": forms.RadioSelect, "risk": forms.RadioSelect}

    def __init__(self, *args: Any, tools: Mapping[str, str], **kwargs: Any) -> None:
        """``tools`` are the other tools of the tenant: name and title."""
        super().__init__(*args, **kwargs)
        others = [("", _("nothing")), *((name, f"{title} ({name})") for name, title in tools.items())]
        for name in ("compensating_tool", "result_query", "fallback_tool"):
            named = self.initial.get(name) or ""
            known = others if not named or named in tools else [*others, (named, named)]
            self.fields[name] = forms.ChoiceField(
                choices=known,
                required=False,
                label=self.fields[name].label,
                help_text=self.fields[name].help_text,
            )
        self.fields["adapter"] = forms.ChoiceField(choices=[(a, a) for a in ADAPTERS], label=_("Called by"))
        for name, choices in (
            ("effect_class", EffectClass.choices),
            ("risk", Risk.choices),
            ("concerns", list(CONCERNS.items())),
            ("isolation", list(ISOLATION.items())),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        try:
            check_storable({k: v for k, v in found.items() if isinstance(v, str | dict | list)})
        except BadInput as bad:
            raise ValidationError(str(bad.text)) from bad
        return found

    def declared(self) -> dict[str, Any]:
        """What was typed, by field of the contract."""
        return {name: self.cleaned_data[name] for name in self.Meta.fields}

    def _get_validation_exclusions(self) -> set[str]:
        """Uniqueness of the version is the business of the draft."""
        return {*super()._get_validation_exclusions(), "version", "tool", "tenant"}  # type: ignore[misc]


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


def other_tools(tool: Tool) -> dict[str, str]:
    """Name and title of the tenant's other tools."""
    rows = Tool.everywhere.filter(tenant_id=tool.tenant_id).exclude(pk=tool.pk).order_by("name")
    return dict(rows.values_list("name", "title"))


class ImportForm(forms.Form):
    """An OpenAPI document, and what the names of its tools begin with."""

    begins = forms.RegexField(
        r"^[a-z][a-z0-9_]*$",
        max_length=20,
        label=_("Names begin with"),
        help_text=_("One word in small letters, like crm: its tools are called crm.create_order and so on."),
    )
    document = forms.CharField(
        label=_("OpenAPI document"),
        widget=forms.Textarea(attrs={"rows": 14, "class": "input mono", "spellcheck": "false"}),
        help_text=_("Version 3.0 or 3.1, as JSON or YAML."),
    )

    found: list[openapi.Operation]

    def clean_begins(self) -> str:
        begins = str(self.cleaned_data["begins"])
        if begins in RESERVED:
            raise ValidationError(_("This name is taken by a page."))
        return begins

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if found.get("document") and found.get("begins"):
            try:
                self.found = openapi.operations(openapi.read(found["document"]), prefix=found["begins"])
            except openapi.BadDocument as bad:
                self.add_error("document", _("It cannot be imported: %s") % bad)
        return found
