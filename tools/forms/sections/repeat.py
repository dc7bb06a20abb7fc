"""Repeating and checking."""

from django import forms
from django.utils.translation import gettext_lazy as _

from tools.forms.fields import Json, Words

FIELDS = (
    "native_idempotency", "enforces_deadline", "retry_safe", "cancellable", "key_memory_seconds", "result_query",
    "query_arguments", "query_answer",
    "timeout_seconds", "quiet_seconds", "max_attempts", "max_total_seconds", "backoff_seconds", "last_resort",
    "retryable_codes", "fatal_codes", "fallback_tool",
)  # fmt: skip
LABELS = {
    "native_idempotency": _("The other side drops a repeat with the same key"),
    "enforces_deadline": _("The other side does not act after the deadline we send"),
    "retry_safe": _("Safe to repeat after a known failure"),
    "cancellable": _("Can be stopped at a safe point"),
    "key_memory_seconds": _("It remembers keys for, seconds"),
    "result_query": _("Can be checked with"),
    "timeout_seconds": _("Time-out, seconds"),
    "quiet_seconds": _("Quiet time, seconds"),
    "max_attempts": _("Tries"),
    "max_total_seconds": _("All tries together, seconds"),
    "backoff_seconds": _("First pause, seconds"),
    "last_resort": _("Who hears of a failure that is left"),
    "fallback_tool": _("Stands in when all tries failed"),
}
HELP_TEXTS = {
    "key_memory_seconds": _("0: for ever."),
    "result_query": _("A read-only tool that tells what became of a call."),
    "quiet_seconds": _("How long a call may still arrive after its sender is gone."),
    "max_attempts": _("After an unknown outcome only where repeats of a key are dropped."),
}
OTHER_TOOLS = ("result_query", "fallback_tool")


class Declared(forms.Form):
    """Lists of codes, and how the question is put and its answer read."""

    query_arguments = Json(
        label=_("What it is asked with"),
        required=False,
        help_text=_(
            'For each argument of that tool: {"from": "key"}, {"from": "reference"}, {"from": "target"}, '
            '{"from": "argument", "pointer": "/invoice/number"} or {"value": …}.'
        ),
    )
    query_answer = Json(
        label=_("How its answer is read"),
        required=False,
        help_text=_(
            'Such as {"pointer": "/body/state", "yes": ["booked"], "no": ["missing"], "reference": "/body/id"} for an '
            "HTTP tool, whose answer stands under /body; for others without /body. Anything else is unsure."
        ),
    )
    retryable_codes = Words(label=_("Worth a repeat"), required=False)
    fatal_codes = Words(label=_("Never repeated"), required=False)
