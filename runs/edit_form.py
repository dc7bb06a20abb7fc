"""The form in which an approver changes the arguments of a proposal. The schema stays the judge: a field only reads what
was typed, digit for digit, and the gate judges the whole."""

import json
from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from accounts.canonical import BadInput, strict_loads
from approvals.answers import LONGEST_COMMENT

PREFIX: Final = "arg_"
#: More characters than fit on a line.
LINE: Final = 120
#: Who edits a text must know that it also stands in a file.
FILES: Final = _("Files stay as they are: they still say what the agent wrote. Empty: none goes along.")
_MISSING: Final = object()


class JsonText(forms.CharField):
    """A value as JSON, so that a number keeps each of its digits. Empty: the argument is left out."""

    def __init__(self, *, before: Any, **kwargs: Any) -> None:
        text = "" if before is _MISSING else json.dumps(before, ensure_ascii=False, indent=2)
        rows = min(20, text.count("\n") + 1)
        widget = (
            forms.Textarea(attrs={"rows": rows, "class": "input mono", "spellcheck": "false"})
            if isinstance(before, dict | list)
            else forms.TextInput(attrs={"class": "input mono", "autocomplete": "off"})
        )
        super().__init__(initial=text, widget=widget, **kwargs)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if text == "":
            return _MISSING
        try:
            return strict_loads(text)
        except BadInput as bad:
            raise ValidationError(
                _("This is no JSON that can be kept: %(why)s"), params={"why": bad.text}
            ) from bad


class Text(forms.CharField):
    """A text exactly as it is typed. A browser sends every line end as CR LF: a text that differs in nothing else was not
    changed, and any other gets CR LF only if all its line ends were that."""

    def __init__(self, *, before: Any, long: bool, **kwargs: Any) -> None:
        self.before = before
        given = "" if before is _MISSING else before
        rows = min(30, max(4, given.count("\n") + 2))
        widget = (
            forms.Textarea(attrs={"rows": rows}) if long else forms.TextInput(attrs={"autocomplete": "off"})
        )
        super().__init__(initial=given, strip=False, widget=widget, **kwargs)

    def clean(self, value: Any) -> Any:
        text = str(super().clean(value))
        if self.before is _MISSING and text == "":
            return _MISSING
        plain = _plain(text)
        if self.before is _MISSING:
            return plain
        if plain == _plain(self.before):
            return self.before
        crlf = "\r\n" in self.before and _plain(self.before).replace("\n", "\r\n") == self.before
        return plain.replace("\n", "\r\n") if crlf else plain


def _plain(text: str) -> str:
    """With LF for every line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Choice(forms.ChoiceField):
    """One of the values that the schema names, or nothing where it may be left out."""

    def __init__(self, *, before: Any, values: list[Any], **kwargs: Any) -> None:
        self.values = {json.dumps(value): value for value in values}
        choices = [(key, value if isinstance(value, str) else key) for key, value in self.values.items()]
        if before is _MISSING or not kwargs["required"]:
            choices = [("", str(_("not set"))), *choices]
        super().__init__(choices=choices, initial="" if before is _MISSING else json.dumps(before), **kwargs)

    def clean(self, value: Any) -> Any:
        return self.values.get(str(super().clean(value)), _MISSING)


class EditForm(forms.Form):
    """One field for each argument. ``digest`` and ``generation`` are those of the version that was read."""

    digest = forms.CharField(max_length=64, widget=forms.HiddenInput)
    generation = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)

    def __init__(
        self, schema: Mapping[str, Any], arguments: Mapping[str, Any], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        properties = schema.get("properties")
        known = dict(properties) if isinstance(properties, Mapping) else {}
        required = set(schema.get("required") or ())
        for name in dict.fromkeys([*arguments, *known]):
            of = known.get(name)
            self.fields[PREFIX + name] = _field(
                name, of if isinstance(of, Mapping) else {}, arguments.get(name, _MISSING), name in required
            )
        self.fields["comment"] = forms.CharField(
            label=_("Why you changed it"),
            help_text=_("Whoever approves this version reads it."),
            required=False,
            max_length=LONGEST_COMMENT,
            widget=forms.Textarea(attrs={"rows": 2}),
        )

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as typed; what is not set is left out. Only of a valid form."""
        return {
            name.removeprefix(PREFIX): value
            for name, value in self.cleaned_data.items()
            if name.startswith(PREFIX) and value is not _MISSING
        }

    def refuse(self, argument: str, text: str) -> None:
        """Show what was said of an argument, at its field if the page has one."""
        for name in (PREFIX + argument, argument):
            if argument and name in self.fields:
                self.add_error(name, text)
                return
        self.add_error(None, text)


def _field(name: str, of: Mapping[str, Any], before: Any, required: bool) -> forms.Field:
    common: dict[str, Any] = {
        "label": str(of.get("title") or name),
        "help_text": str(of.get("description") or "") or (FILES if name == "attachments" else ""),
        "required": required,
    }
    if isinstance(of.get("enum"), list):
        return Choice(before=before, values=list(of["enum"]), **common)
    if of.get("type") == "boolean" and (before is _MISSING or isinstance(before, bool)):
        return Choice(before=before, values=[True, False], **common)
    if of.get("type") == "string" and (before is _MISSING or isinstance(before, str)):
        # A field of one line drops line ends, and what was empty before may stay so: the schema judges.
        long = isinstance(before, str) and ("\n" in _plain(before) or len(before) > LINE)
        common["required"] = required and before != ""
        return Text(before=before, long=long or int(of.get("maxLength") or 0) > 1000, **common)
    return JsonText(before=before, **common)
