"""The effects of a run and what became of each: the one source of the summary, the pages and the API."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from runs.models import Step
from runs.states import STEP_LIVE
from tools import compensation
from tools.models import Intent

#: ``open``: it happened and has a way back · ``irreversible``: it happened and has none · ``undoing``, ``waits``: its undo
#: is under way, or waits · ``undone`` · ``left``: it stands, its undo was refused, given up or impossible
#: · ``undo_unknown``: nobody can know whether it was undone · ``unknown``: it may have happened
#: · ``nobody_knows``: nobody can know that.
Fate = Literal[
    "open", "irreversible", "undoing", "waits", "undone", "left", "undo_unknown", "unknown", "nobody_knows"
]
UNSETTLED = ("UNKNOWN", "DISPATCHED")
WAITS = ("WAITING_APPROVAL", "WAITING_EXTERNAL", "UNKNOWN")


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect that happened or may have happened. ``undo`` is the step that undoes it."""

    intent: Intent
    undo: Step | None
    fate: Fate


def of_run(run_id: uuid.UUID) -> list[Effect]:
    """In the order in which they were sent; two queries."""
    undos = Step.everywhere.filter(run_id=run_id, kind=Step.Kind.UNDO).select_related("intent")
    rows = (
        Intent.everywhere.filter(run_id=run_id, compensates__isnull=True, dispatch_id__isnull=False)
        .exclude(status__in=[Intent.Status.REJECTED, Intent.Status.VOIDED])
        .select_related("contract", "tool")
        .order_by("dispatched_at", "fence")
    )
    return judged(rows, undos)


def judged(intents: Iterable[Intent], undos: Iterable[Step]) -> list[Effect]:
    """What became of effects, from the steps that undo them."""
    steps = {str(step.input.get("undoes")): step for step in undos}
    found = []
    for intent in intents:
        step = steps.get(intent.pk.hex)
        fate = _fate(intent, step)
        if fate is not None:
            found.append(Effect(intent, step, fate))
    return found


def _fate(intent: Intent, undo: Step | None) -> Fate | None:
    match intent.status:
        case Intent.Status.COMPENSATED:
            return "undone"
        case Intent.Status.ABANDONED:
            return "nobody_knows"
        case Intent.Status.UNKNOWN | Intent.Status.DISPATCHED:
            return "unknown"
        case Intent.Status.CONFIRMED:
            return _of_confirmed(intent, undo)
    return None


def _of_confirmed(intent: Intent, undo: Step | None) -> Fate:
    if undo is None:
        return "open" if compensation.reversible(intent.contract) else "irreversible"
    if undo.status in WAITS:
        return "waits"
    if undo.status in STEP_LIVE or undo.status == Step.Status.SUCCEEDED:
        return "undoing"
    return "undo_unknown" if undo.error_code == "nobody_knows" else "left"
