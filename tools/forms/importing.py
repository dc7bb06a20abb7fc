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
    file = forms.FileField(
        required=False,
        label=_("OpenAPI document, as a file"),
        widget=forms.FileInput(attrs={"accept": ".json,.yaml,.yml,.txt"}),
        help_text=_("Version 3.0 or 3.1: JSON up to %(json)s MB, YAML up to %(yaml)s MB."),
    )
    document = forms.CharField(
        required=False,
        label=_("Or its text"),
        # A form's own part of a request is small: the page sends a long text as the file.
        widget=forms.Textarea(
            attrs={"rows": 14, "class": "input mono", "spellcheck": "false", "data-as-file": "file"}
        ),
    )

    found: list[openapi.Operation]

    def __init__(self, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        self.fields["file"].help_text = self.fields["file"].help_text % {
            "json": openapi.MAX_BYTES // 1_000_000,
            "yaml": openapi.MAX_YAML // 1_000_000,
        }

    def clean_begins(self) -> str:
        begins = str(self.cleaned_data["begins"])
        if begins in RESERVED:
            raise ValidationError(_("This name is taken by a page."))
        return begins

    def clean_file(self) -> str:
        """Its text, empty without a file."""
        given = self.cleaned_data["file"]
        if not given:
            return ""
        # One byte more than is taken: then it is refused for its size.
        raw: bytes = given.read(openapi.MAX_BYTES + 1)
        try:
            return raw.decode("utf-8-sig", "replace" if len(raw) > openapi.MAX_BYTES else "strict")
        except UnicodeDecodeError as bad:
            raise ValidationError(_("It is not UTF-8 text.")) from bad

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        text = found.get("file") or found.get("document") or ""
        if not text and not self.errors:
            self.add_error("document", _("Choose a file, or paste the text."))
        if found.get("file"):
            # The browser forgets which file was chosen; the next step reads the text again.
            self.data = dict(self.data.items()) | {"document": text}
        if text and found.get("begins"):
            try:
                self.found = openapi.operations(openapi.read(text), prefix=found["begins"])
            except openapi.BadDocument as bad:
                self.add_error(
                    "file" if found.get("file") else "document", _("It cannot be imported: %s") % bad
                )
        return found
