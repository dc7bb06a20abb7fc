"""Small forms around a tool: its name, and why it is paused."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

NAME = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"
#: Names of pages beside those of the tools.
RESERVED = ("import", "new", "secrets")


class ToolForm(forms.Form):
    """A new tool: a name for agents, a title for people."""

    name = forms.RegexField(
        NAME,
        max_length=80,
        label=pgettext_lazy("tool", "Name"),
        help_text=_("As agents call it: small letters, digits, dots and low lines, like crm.create_order."),
        error_messages={
            "invalid": _(
                "Small letters a to z, digits and low lines, in parts joined by dots; each part begins with a letter."
            )
        },
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


class NoteForm(forms.Form):
    """Why a version comes into force, or what the second administrator should look at."""

    note = forms.CharField(
        max_length=500,
        required=False,
        label=_("Why"),
        help_text=_("Kept with the version, in its history."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class SendBackForm(forms.Form):
    """What is to be mended."""

    reason = forms.CharField(
        max_length=500, label=_("What is to be mended"), widget=forms.Textarea(attrs={"rows": 2})
    )


class ReasonForm(forms.Form):
    """Why somebody pauses a tool."""

    reason = forms.CharField(
        max_length=500, label=_("Reason"), help_text=_("Shown wherever the tool is shown, with your name.")
    )
