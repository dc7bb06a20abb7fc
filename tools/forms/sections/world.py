"""What it does to the world."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tools.forms.fields import Json
from tools.models import Contract, EffectClass, Risk

FIELDS = (
    "effect_class", "concerns", "risk", "weight", "compensating_tool", "compensation_idempotent",
    "compensation_arguments",
)  # fmt: skip
LABELS = {
    "effect_class": _("Class"),
    "concerns": _("What it touches"),
    "risk": _("Risk of a wrong call"),
    "weight": _("Weight in reversible coverage"),
    "compensating_tool": _("Undone by"),
    "compensation_idempotent": _("Undoing may be repeated"),
}
HELP_TEXTS = {"weight": _("Loss of business by a wrong call: 1 light, 10 grave.")}
WIDGETS = {"effect_class": forms.RadioSelect, "risk": forms.RadioSelect}
OTHER_TOOLS = ("compensating_tool",)


class Declared(forms.Form):
    """How the undo gets its arguments."""

    compensation_arguments = Json(
        label=_("What the undo is given"),
        required=False,
        help_text=_(
            'For each of its arguments where the value comes from, as {"from": "answer", "pointer": "/body/id"} (an HTTP '
            "tool puts its answer under /body, others do not); "
            'also from argument, reference, target or key, or a fixed {"value": …}. '
            "Empty: arguments, answer and reference as they are."
        ),
    )


#: In the words of people; the stored values are short.
CONCERNS = {
    Contract.Concerns.NOTHING.value: _("nothing in particular"),
    Contract.Concerns.DATA.value: _("data"),
    Contract.Concerns.FUNDS.value: pgettext_lazy("concern", "money"),
    Contract.Concerns.COMMITMENT.value: _("commitments towards others"),
    Contract.Concerns.PERMISSION.value: _("who may do what"),
}
CHOICES: dict[str, Any] = {
    "effect_class": EffectClass.choices,
    "risk": Risk.choices,
    "concerns": list(CONCERNS.items()),
}
