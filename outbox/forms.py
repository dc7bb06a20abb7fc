"""Forms of this room: they check what was typed; the rules are in the verbs."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from outbox.chat.services import SERVICES
from outbox.kinds import KINDS, Kind
from outbox.models import Channel, DigestTime, Timing
from outbox.webhooks import events

#: A kind of note with its timing on each channel.
Row = tuple[Kind, dict[Channel, Timing]]


class NotesForm(forms.Form):
    """One choice for each kind of note and channel; for a person also when the digest comes."""

    every = forms.ChoiceField(label=_("The digest comes"), choices=DigestTime.Every.choices)
    hour = forms.TypedChoiceField(
        label=_("Daily at"), coerce=int, choices=[(hour, f"{hour:02}:00") for hour in range(24)]
    )

    def __init__(self, *args: Any, table: Sequence[Row], digest: DigestTime | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table, self.of_all = table, digest is None
        if digest is None:
            del self.fields["every"], self.fields["hour"]
        else:
            self.initial.update(every=digest.every, hour=digest.hour)
        for kind, timings in table:
            for channel, timing in timings.items():
                offered = kind.choices(channel)
                widget = forms.Select(
                    attrs={"class": "input", "aria-label": f"{self._words(kind)} {channel.label}"}
                )
                choices = [(one.value, one.label) for one in offered]
                self.fields[f"{kind.name}__{channel.value}"] = forms.ChoiceField(
                    choices=choices, initial=timing.value, widget=widget
                )

    def _words(self, kind: Kind) -> str:
        return str(kind.of_all if self.of_all else kind.words)

    def rows(self) -> list[tuple[str, list[tuple[str, forms.BoundField]]]]:
        """The words of each kind with its fields, in the order of the channels."""
        return [
            (
                self._words(kind),
                [(str(channel.label), self[f"{kind.name}__{channel.value}"]) for channel in timings],
            )
            for kind, timings in self.table
        ]

    def chosen(self) -> dict[tuple[str, str], str]:
        """What was changed: (kind, channel) → timing. What stays as it is goes on following its default."""
        found: dict[tuple[str, str], str] = {}
        for kind, timings in self.table:
            for channel, timing in timings.items():
                wanted = self.cleaned_data[f"{kind.name}__{channel.value}"]
                if wanted != timing:
                    found[kind.name, channel.value] = wanted
        return found


class ChatForm(forms.Form):
    """Where to write by chat. The address is a secret: it is typed, kept sealed, and not shown again."""

    address = forms.CharField(
        label=_("Address"),
        max_length=1000,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    kinds = forms.MultipleChoiceField(
        label=_("Notes"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=[(kind.name, kind.of_all) for kind in KINDS.values()],
        help_text=_("None chosen: all of them."),
    )

    def __init__(self, *args: Any, of_tenant: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        forms_ = ", ".join(one.example for one in SERVICES)
        self.fields["address"].help_text = _("One of: %(forms)s. Kept sealed, and not shown again.") % {
            "forms": forms_
        }
        if not of_tenant:
            del self.fields["kinds"]


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
