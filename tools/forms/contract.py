"""The form of a contract: it checks what was typed; whether it makes sense together is said by ``tools.contradictions``.

Its fields stand in ``tools.forms.sections``.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accounts.canonical import BadInput, check_storable
from tools.forms import connections
from tools.forms.sections import SECTIONS, call, repeat, world
from tools.models import Contract, Tool

if TYPE_CHECKING:
    _Model = forms.ModelForm[Contract]
else:
    _Model = forms.ModelForm


def _all(part: str) -> dict[str, Any]:
    """One kind of words of every section."""
    return {name: value for section in SECTIONS for name, value in getattr(section, part, {}).items()}


def _names(part: str) -> tuple[str, ...]:
    return tuple(name for section in SECTIONS for name in getattr(section, part, ()))


class ContractForm(world.Declared, call.Declared, repeat.Declared, connections.Connections, _Model):
    """Everything of a contract except its policy (:class:`tools.forms.policy.PolicyForm`)."""

    class Meta:
        model = Contract
        fields = _names("FIELDS")
        labels = _all("LABELS")
        help_texts = _all("HELP_TEXTS")
        widgets = _all("WIDGETS")

    def __init__(self, *args: Any, tools: Mapping[str, str], **kwargs: Any) -> None:
        """``tools`` are the other tools of the tenant: name and title."""
        super().__init__(*args, **kwargs)
        stored = connections.shown(str(self.initial.get("adapter", "")), self.initial.get("config"))
        self.initial = {**stored, **self.initial}
        others = [("", _("nothing")), *((name, f"{title} ({name})") for name, title in tools.items())]
        for name in _names("OTHER_TOOLS"):
            named = self.initial.get(name) or ""
            known = others if not named or named in tools else [*others, (named, named)]
            self.fields[name] = forms.ChoiceField(
                choices=known,
                required=False,
                label=self.fields[name].label,
                help_text=self.fields[name].help_text,
            )
        for name, choices in _all("CHOICES").items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        adapter = str(found.get("adapter", ""))
        before = self.initial.get("config") if adapter == self.initial.get("adapter") else {}
        said = connections.typed(adapter, found, before)
        if said is not None:
            found["config"] = said
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


def other_tools(tool: Tool) -> dict[str, str]:
    """Name and title of the tenant's other tools; those for drills are offered to each other alone."""
    rows = Tool.everywhere.filter(tenant_id=tool.tenant_id).exclude(pk=tool.pk).order_by("name")
    if not tool.is_drill:
        rows = rows.exclude(name__startswith=Tool.DRILL)
    return dict(rows.values_list("name", "title"))
