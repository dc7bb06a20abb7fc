"""When a person must agree; who and the rules are in :mod:`tools.forms.policy`."""

from django.utils.translation import gettext_lazy as _

FIELDS = ("approval_ttl_seconds",)
LABELS = {"approval_ttl_seconds": _("A question waits for, seconds")}
HELP_TEXTS = {"approval_ttl_seconds": _("Without an answer it expires, which denies.")}
