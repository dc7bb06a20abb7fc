"""Forms of groups and absences: they check what was typed; the rules are in the verbs."""

import uuid
from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.forms import StorableForm
from accounts.models import User
from accounts.verbs.add_group import LONGEST
from accounts.verbs.set_absence import LONGEST_NOTE

_INSTANT = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"]


class NewGroupForm(StorableForm):
    """A group without members yet."""

    name = forms.CharField(
        label=pgettext_lazy("group", "Name"),
        max_length=LONGEST,
        help_text=_("Rules name it by this name, letter for letter."),
    )


class GroupForm(NewGroupForm):
    """Name and people of a group. Whoever is in it and has left the tenant stays in the list, to be taken out."""

    members = forms.TypedMultipleChoiceField(
        label=_("In it"),
        required=False,
        coerce=uuid.UUID,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("A rule that names the group asks those of them who also hold its role."),
    )

    def __init__(self, *args: Any, people: Iterable[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["members"].choices = [(str(one.pk), str(one)) for one in people]  # type: ignore[attr-defined]


def _instant(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"})
    return forms.DateTimeField(label=label, input_formats=_INSTANT, widget=widget)


class AbsenceForm(StorableForm):
    """From when until when, in the time zone of who types it, and who stands in."""

    begins_at = _instant(_("Away from"))
    ends_at = _instant(_("Until"))
    stand_in = forms.TypedChoiceField(
        label=_("Who stands in"),
        required=False,
        coerce=uuid.UUID,
        empty_value=None,
        help_text=_("They may answer what was handed to this person, if they may decide it at all."),
    )
    note = forms.CharField(label=_("A word to colleagues"), required=False, max_length=LONGEST_NOTE)

    def __init__(self, *args: Any, people: Iterable[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("nobody")), *((str(one.pk), str(one)) for one in people)]
        self.fields["stand_in"].choices = choices  # type: ignore[attr-defined]
