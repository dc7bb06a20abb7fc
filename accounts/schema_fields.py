"""Plain Django fields from the properties of a JSON Schema. The schema stays the judge: each field checks its own type, and
whoever uses them validates the whole against the schema once more."""

from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
from django import forms
from django.utils.translation import gettext as _


def field_of(name: str, schema: Mapping[str, Any], *, required: bool) -> forms.Field:
    """One Django field for one property. An unknown shape becomes a text of JSON, which the schema then
    judges."""
    common: dict[str, Any] = {
        "label": _(str(schema.get("title") or name.replace("_", " ").capitalize())),
        "help_text": _(str(schema["description"])) if schema.get("description") else "",
        "required": required,
        "initial": schema.get("default"),
    }
    kind = schema.get("type")
    if "enum" in schema:
        empty = [] if required else [("", _("not set"))]
        titles = schema.get("x-titles") or {}
        choices = [(value, _(str(titles.get(value, value)))) for value in schema["enum"]]
        return forms.TypedChoiceField(
            choices=[*empty, *choices], coerce=_coerce(schema["enum"]), empty_value=None, **common
        )
    if kind == "boolean":
        return forms.BooleanField(**{**common, "required": False})
    if kind == "integer":
        return forms.IntegerField(min_value=schema.get("minimum"), max_value=schema.get("maximum"), **common)
    if kind == "number":
        return forms.FloatField(min_value=schema.get("minimum"), max_value=schema.get("maximum"), **common)
    if kind == "string":
        return _text_field(schema, common)
    return forms.JSONField(**common)


def _text_field(schema: Mapping[str, Any], common: dict[str, Any]) -> forms.Field:
    length: dict[str, Any] = {"min_length": schema.get("minLength"), "max_length": schema.get("maxLength")}
    match schema.get("format"):
        case "email":
            return forms.EmailField(**common)
        case "date":
            return _IsoDate(widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), **common)
    lines = int(schema.get("maxLength") or 0) > 500
    rows = min(24, max(4, str(schema.get("default") or "").count("\n") + 3))
    widget = forms.Textarea(attrs={"rows": rows}) if lines else forms.TextInput()
    return forms.CharField(widget=widget, **length, **common)


class _IsoDate(forms.DateField):
    """A date that travels as ISO text, as JSON wants it."""

    def clean(self, value: Any) -> Any:
        found = super().clean(value)
        return found.isoformat() if found else None


def _coerce(values: Sequence[Any]) -> Any:
    return lambda text: next((value for value in values if str(value) == str(text)), text)


def words(problem: jsonschema.ValidationError) -> str:
    """The validator's sentence in ours, where ours is plainer."""
    match problem.validator:
        case "required" | "minLength" | "minItems":
            return _("This is missing. Fill it in.")
        case "format":
            return _("This does not have the expected form: %(form)s.") % {"form": problem.validator_value}
        case "maximum" | "exclusiveMaximum":
            return _("This is more than %(most)s.") % {"most": problem.validator_value}
        case "minimum" | "exclusiveMinimum":
            return _("This is less than %(least)s.") % {"least": problem.validator_value}
    return problem.message
