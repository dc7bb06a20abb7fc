"""Forms of this room: they check what was typed; the rules are in the verbs."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from outbox.webhooks import events


class WebhookForm(forms.Form):
    """Name, address, and what it wants to hear."""

    name = forms.CharField(
        label=pgettext_lazy("webhook", "Name"),
        max_length=80,
        help_text=_("What listens there, for example: ERP."),
    )
    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.URLInput(
            attrs={"placeholder": "https://", "spellcheck": "false", "autocomplete": "off"}
        ),
        help_text=_("https, and reachable from the Internet. Redirects are not followed."),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: all of them, also those that later versions add."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [
            (one.name, f"{one.words} ({one.name})") for one in events.known() if one.name != events.TEST
        ]
        self.fields["events"].choices = choices  # type: ignore[attr-defined]
