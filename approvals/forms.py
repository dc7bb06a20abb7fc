"""What a person posts from the page of an action. The service checks everything again; this names the fields."""

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext_lazy as _

from accounts import ids
from accounts.schema_fields import field_of
from approvals.answers import LONGEST_COMMENT, LONGEST_REFERENCE
from approvals.delegate import LONGEST_NOTE

PREFIX = "in_"


class AnswerForm(forms.Form):
    """The fields of the schema that a question asks for; the service validates the whole against it."""

    def __init__(self, schema: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.schema = schema
        required = set(schema.get("required") or ())
        for name, of in dict(schema.get("properties") or {}).items():
            self.fields[PREFIX + name] = field_of(name, of, required=name in required)

    @property
    def value(self) -> dict[str, Any]:
        """The answer as JSON; what was left empty is left out. Only of a valid form."""
        plain = {name.removeprefix(PREFIX): value for name, value in self.cleaned_data.items()}
        return {name: value for name, value in plain.items() if value not in (None, "", [])}

    def refuse(self, field: str, text: str) -> None:
        """Show what the service said, at its field if the page has one."""
        self.add_error(PREFIX + field if PREFIX + field in self.fields else None, text)


class DecisionForm(forms.Form):
    """One answer. ``digest`` and ``generation`` are those of the page that was read."""

    verdict = forms.CharField(label=_("Answer"), max_length=20)
    digest = forms.CharField(max_length=64)
    generation = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    comment = forms.CharField(label=_("How do you know?"), required=False, max_length=LONGEST_COMMENT)
    reference = forms.CharField(label=_("Reference"), required=False, max_length=LONGEST_REFERENCE)
    evidence = forms.CharField(
        label=_("Link to the evidence"),
        required=False,
        max_length=500,
        validators=[
            URLValidator(
                schemes=("https", "http"),
                message=_("Give an address that begins with https:// or http://. Nothing was recorded."),
            )
        ],
    )
    file = forms.FileField(label=_("File"), required=False, allow_empty_file=True)
    kept = forms.CharField(required=False, max_length=2000)
    everything = forms.BooleanField(required=False)
    more = forms.CharField(label=_("How much more"), required=False, max_length=20)
    entry = forms.CharField(label=_("Where it goes on"), required=False, max_length=20)
    gesture = forms.CharField(label=_("What you typed"), required=False, max_length=500)

    def clean(self) -> dict[str, Any]:
        """An answer that is given twice is none: nobody could tell which one was meant."""
        given = super().clean() or self.cleaned_data
        several = getattr(self.data, "getlist", lambda _name: ())
        if any(len(several(name)) > 1 for name in ("verdict", "digest", "generation")):
            raise ValidationError(_("The answer was given more than once. Nothing was decided."))
        return given

    def refuse(self, field: str, text: str) -> None:
        """Show what the service said, at its field if the page has one."""
        on_page = ("comment", "reference", "evidence", "file", "more", "entry")
        self.add_error(field if field in on_page else None, text)


class HandOverForm(forms.Form):
    """To whom it is handed: a public id of a person, and a few words to them."""

    to = forms.CharField(label=_("Hand it to"), max_length=60)
    note = forms.CharField(label=_("A word to them"), required=False, max_length=LONGEST_NOTE)

    def clean_to(self) -> uuid.UUID:
        try:
            return ids.parse("user", self.cleaned_data["to"])
        except ids.BadId:
            raise forms.ValidationError(_("Choose one of those who may decide it.")) from None


class AsideForm(forms.Form):
    """Until when it is set aside, in the person's own time zone."""

    until = forms.DateTimeField(
        label=_("Until"), input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"]
    )
