"""How a run that succeeded ended, in one sentence or two."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

_NOTICES = {
    "sent": gettext_noop("The notice was sent."),
    "no_deadline": gettext_noop("No deadline was found, so no notice was proposed."),
    "no_recipient": gettext_noop("No address was given, so no notice was proposed."),
    "rejected": gettext_noop("The notice was rejected, so nothing was sent."),
    "changes_requested": gettext_noop("An approver asked for changes, and no further notice was proposed."),
    "approval_expired": gettext_noop("Nobody decided on the notice in time, so nothing was sent."),
    "nobody_knows": gettext_noop("Whether the notice was sent is settled as not to be known."),
}


def words(result: Mapping[str, Any]) -> str:
    """From what the agent left as its result; "" when it left no words."""
    told = [_counts(result["summary"])] if isinstance(result.get("summary"), Mapping) else []
    notice = str(result.get("notice") or "")
    if notice in _NOTICES:
        told.append(_(_NOTICES[notice]))
    elif notice:
        told.append(_("The notice was not sent: %(why)s") % {"why": result.get("note") or notice})
    if isinstance(result.get("sentence"), str):
        told.append(str(result["sentence"]))
    return " ".join(filter(None, told))


def needs_a_look(result: Mapping[str, Any]) -> bool:
    """Whether it ended other than hoped for, although nothing failed."""
    return result.get("notice") not in (None, "", "sent", "no_deadline", "no_recipient")


def _counts(summary: Mapping[str, Any]) -> str:
    read, refused = int(summary.get("read") or 0), int(summary.get("refused") or 0)
    high, found = int(summary.get("high") or 0), int(summary.get("findings") or 0)
    if "documents" not in summary:
        return ""
    told = ngettext("%(n)s document read", "%(n)s documents read", read) % {"n": read}
    told += ", " + ngettext("%(n)s finding", "%(n)s findings", found) % {"n": found}
    if high:
        told += ", " + ngettext("%(n)s of high risk", "%(n)s of high risk", high) % {"n": high}
    if refused:
        told += "; " + ngettext("%(n)s could not be read", "%(n)s could not be read", refused) % {
            "n": refused
        }
    return f"{told}."
