"""What a person posts from the page of an action. The service checks everything again; this names the fields."""

from django import forms
from django.utils.translation import gettext_lazy as _

from approvals.answers import LONGEST_COMMENT, LONGEST_REFERENCE


class DecisionForm(forms.Form):
    """One answer. ``digest`` and ``generation`` are those of the page that was read."""

    verdict = forms.CharField(label=_("Answer"), max_length=20)
    digest = forms.CharField(max_length=64)
    generation = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    comment = forms.CharField(label=_("How do you know?"), required=False, max_length=LONGEST_COMMENT)
    reference = forms.CharField(label=_("Reference"), required=False, max_length=LONGEST_REFERENCE)
    evidence = forms.CharField(label=_("Link to the evidence"), required=False, max_length=500)
    more = forms.CharField(label=_("How much more"), required=False, max_length=20)
    gesture = forms.CharField(label=_("What you typed"), required=False, max_length=500)

    def refuse(self, field: str, text: str) -> None:
        """Show what the service said, at its field if the page has one."""
        on_page = ("comment", "reference", "evidence", "more")
        self.add_error(field if field in on_page else None, text)
