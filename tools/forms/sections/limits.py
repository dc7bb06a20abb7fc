"""Limits and order: how often, in what order on a resource, and when another worker may take over."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from tools.models import Contract

FIELDS = ("quota_per_hour", "quota_per_minute", "fence_rule", "resource", "takeover_rule")
LABELS = {
    "quota_per_hour": _("Most calls in an hour"),
    "quota_per_minute": _("Most calls in a minute"),
    "fence_rule": _("Order on a resource"),
    "resource": _("Resource"),
    "takeover_rule": _("Another worker takes a step over"),
}
HELP_TEXTS = {
    "quota_per_hour": _(
        "In any 60 minutes, over all tasks. What is over waits and says until when. Empty: no limit."
    ),
    "quota_per_minute": _("In any 60 seconds. Empty: no limit."),
    "resource": _(
        "Named by arguments, like account/{account_id}. All tools that name the same resource share its order."
    ),
    "takeover_rule": _("For calls that must not run twice at the same time, even if that takes longer."),
}
FENCES = {
    Contract.FenceRule.NONE.value: _("none"),
    Contract.FenceRule.AT_LEAST.value: _("nobody older than the last one"),
    Contract.FenceRule.STRICT.value: _("one at a time, each newer than the last one"),
}
TAKEOVER = {
    Contract.TakeoverRule.AT_EXPIRY.value: _("as soon as the first one's lease has ended"),
    Contract.TakeoverRule.KNOWN_GONE.value: _("when the first one is known to be gone"),
}
CHOICES: dict[str, Any] = {"fence_rule": list(FENCES.items()), "takeover_rule": list(TAKEOVER.items())}
