"""The form that takes a document of the other side."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from tools import openapi
from tools.forms.tool import RESERVED


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
