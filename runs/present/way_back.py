"""What becomes of effects that have a way back: before an end, while they are undone, and afterwards."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.said import read
from runs.models import Run
from runs.selectors.fates import Effect

#: Shown as still to come or as over; what stays is told with what stays.
COMING = ("open", "undoing", "waits")


def line(effect: Effect) -> str:
    """What becomes of one effect, or became of it."""
    undo = effect.undo
    match effect.fate:
        case "undone":
            at = undo.finished_at if undo else None
            clock = date_format(timezone.localtime(at), pgettext("date format", "H:i")) if at else ""
            return _("Undone %(at)s") % {"at": clock}
        case "undoing":
            return _("Is being undone")
        case "waits":
            waits = read(undo.waiting_on) if undo else ""
            return _("Its undo waits: %(what)s") % {"what": waits}
        case "left":
            why = read(undo.error_text or undo.error_code) if undo else ""
            return _("Not undone: %(why)s") % {"why": why or "–"}
        case "undo_unknown":
            return _("Nobody can know whether it was undone.")
    return _("by %(tool)s") % {"tool": effect.intent.contract.compensating_tool}


def name(effect: Effect, names: Mapping[Any, str]) -> str:
    """The step, and what it reached."""
    intent = effect.intent
    said = names.get(intent.step_id) or intent.tool.title or intent.tool.name
    return f"{said}: {intent.target}" if intent.target and intent.target not in said else said


def counts(run: Run) -> str:
    """How an ended run was undone, in a sentence; empty when nothing was."""
    told: Mapping[str, Any] = (run.failure or {}).get("undo") or (run.result or {}).get("undo") or {}
    undone, left = int(told.get("undone") or 0), int(told.get("left") or 0)
    stands, unknown = int(told.get("irreversible") or 0), int(told.get("unknown") or 0)
    if not told:
        return ""
    parts = [ngettext("%(n)s effect was undone", "%(n)s effects were undone", undone) % {"n": undone}]
    if left:
        parts.append(_("%(n)s could not be") % {"n": left})
    if stands:
        parts.append(_("%(n)s cannot be") % {"n": stands})
    if unknown:
        parts.append(_("of %(n)s nobody can know") % {"n": unknown})
    return ", ".join(parts) + "."


def progress(effects: Sequence[Effect]) -> str:
    """How far a run that is being undone has come."""
    wanted = [effect for effect in effects if effect.fate not in ("irreversible", "nobody_knows", "unknown")]
    over = [effect for effect in wanted if effect.fate not in COMING]
    waits = next((line(effect) for effect in wanted if effect.fate == "waits"), "")
    words = _("%(n)s of %(all)s effects are through, the last one first.") % {
        "n": len(over),
        "all": len(wanted),
    }
    return f"{words} {waits}".strip()
