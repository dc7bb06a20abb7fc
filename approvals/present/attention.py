"""The one thing to look at before a yes: what hides or pretends first, then what is new."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import visible
from approvals.folding import as_text
from approvals.models import PendingAction
from tools.models import Intent


@dataclass(frozen=True, slots=True)
class Look:
    """Title and text of the amber field."""

    title: str
    text: str


def look(action: PendingAction, shown: Mapping[str, Any]) -> Look | None:
    """The worst that can be said, or None. A first-time target is a fact of now, the rest is in the shown
    bytes.
    """
    return _pretending(shown) or _hidden(shown) or _new_target(action, shown)


def _texts(shown: Mapping[str, Any]) -> list[str]:
    return [
        str(shown.get("target") or ""),
        *(as_text(value) for value in (shown.get("arguments") or {}).values()),
    ]


def _pretending(shown: Mapping[str, Any]) -> Look | None:
    for text in _texts(shown):
        for host, form in visible.ascii_hosts(text).items():
            seen = form or _("nothing that can be reached")
            return Look(
                _("Look at this one: the address is not what it looks like"),
                _("%(host)s has letters from another alphabet. The network sees %(form)s.")
                % {"host": host, "form": seen},
            )
    return None


def _hidden(shown: Mapping[str, Any]) -> Look | None:
    signs = [sign for text in _texts(shown) for sign in visible.odd_signs(text) if sign.mark != "look_alike"]
    if not signs:
        return None
    names = ", ".join(sorted({sign.name.split(" ", 1)[0] for sign in signs}))
    count = ngettext("%s sign does", "%s signs do", len(signs)) % len(signs)
    return Look(
        _("Look at this one: the text holds signs that cannot be seen"),
        _("%(count)s not show by itself (%(names)s). Each is spelled out below where it stands.")
        % {"count": count, "names": names},
    )


def _new_target(action: PendingAction, shown: Mapping[str, Any]) -> Look | None:
    target = str(shown.get("target") or "")
    if not target or action.intent is None or "@" not in target:
        return None
    before = Intent.everywhere.filter(
        tenant_id=action.tenant_id,
        tool_id=action.intent.tool_id,
        target=target,
        status=Intent.Status.CONFIRMED,
    )
    if before.exclude(pk=action.intent_id).exists():
        return None
    return Look(
        _("Look at this one: the address is new"),
        _("Nothing was ever sent to %s from here. Compare it with the documents.") % target,
    )
