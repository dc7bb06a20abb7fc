"""How it is called."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from tools.contradictions import ADAPTERS
from tools.forms.fields import Json, Words
from tools.models import Contract

FIELDS = (
    "adapter", "target", "egress_hosts", "data_residency", "isolation", "memory_mb", "cpu_seconds",
    "attempt_tokens", "attempt_cost", "config", "input_schema", "output_schema",
)  # fmt: skip
LABELS = {
    "adapter": _("Called by"),
    "target": _("Target"),
    "data_residency": _("Data stay in"),
    "isolation": _("Runs in"),
    "memory_mb": _("Memory, MB"),
    "cpu_seconds": _("Processor time, seconds"),
    "attempt_tokens": _("Most tokens of one try"),
    "attempt_cost": _("Most cost of one try"),
}
HELP_TEXTS = {
    "target": _("The name of a function, or an address with {names} of arguments; for a model up to /v1."),
    "attempt_tokens": _("A model needs it: so much is set aside of the budget while it is asked."),
}
ISOLATION = {
    Contract.Isolation.ASYNC.value: _("an event loop, with many others"),
    Contract.Isolation.THREAD.value: _("a thread"),
    Contract.Isolation.PROCESS.value: _("a process of its own, with limits"),
}
CHOICES: dict[str, Any] = {"isolation": list(ISOLATION.items())}


class Declared(forms.Form):
    """Objects in JSON, hosts, and the adapters that there are."""

    adapter = forms.ChoiceField(choices=[(name, name) for name in ADAPTERS], label=_("Called by"))
    config = Json(label=_("Connection"), required=False)
    input_schema = Json(label=_("Schema of the arguments"), required=False)
    output_schema = Json(label=_("Schema of the answer"), required=False)
    egress_hosts = Words(label=_("May reach"), required=False)
