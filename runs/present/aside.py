"""Beside the task: budget, what can be undone, and the technical words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.ids import public
from runs.models import Run, Step
from runs.present.names import step_name
from tools import coverage as weights
from tools.models import Intent

_BUDGETS = {
    "cost": gettext_noop("Cost"),
    "steps": gettext_noop("Steps"),
    "tool_calls": gettext_noop("Tool calls"),
    "model_calls": gettext_noop("Model calls"),
    "tokens": gettext_noop("Tokens"),
    "wall_seconds": gettext_noop("Working time"),
}


@dataclass(frozen=True, slots=True)
class Meter:
    """What was used of a limit; amounts as text, exactly as booked."""

    label: str
    used: str
    limit: str
    width: str
    tone: str = "stopped"


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """One effect that happened."""

    effect: str
    text: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Reversible coverage (L15): the share of the effects so far, by weight, that has a way back."""

    lead: str
    text: str
    width: str
    lines: Sequence[CoverageLine] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and a value; ``at`` is an instant shown in full."""

    label: str
    value: str = ""
    note: str = ""
    mono: bool = False
    at: datetime | None = None
    url: str = ""


def meters(run: Run) -> list[Meter]:
    """What the run has used of its budget."""
    return [
        Meter(
            _(label),
            _amount(name, run.spent.get(name, 0)),
            _amount(name, run.budget[name]),
            _share(run.spent.get(name, 0), run.budget[name]),
        )
        for name, label in _BUDGETS.items()
        if name in run.budget
    ]


def _amount(name: str, value: Any) -> str:
    """As booked; times in the largest unit that leaves no more than a hundred of them."""
    if name != "wall_seconds":
        return str(value)
    seconds = int(Decimal(str(value)))
    if seconds < 100:
        return _("%s s") % seconds
    return _("%s min") % (seconds // 60) if seconds < 6000 else _("%s h") % (seconds // 3600)


def coverage(intents: Sequence[Intent], names: Mapping[Any, str]) -> Coverage | None:
    """What of the effects that happened, or may have, can or could be undone; nothing to say while there are none."""
    done = [intent for intent in intents if weights.counts(intent)]
    if not done:
        return None
    share = weights.of_contracts(one.contract for one in done).percent or 0
    lines = [CoverageLine(one.contract.effect_class, _effect_words(one, names)) for one in done]
    return Coverage(f"{share} %", _("of the effects so far, by weight"), f"{share}%", lines)


def technical(run: Run, steps: Sequence[Step]) -> list[Fact]:
    """The machine's words, for whoever asks for them."""
    facts = [
        Fact(_("Run"), public("run", run.pk), mono=True),
        Fact(_("Agent"), f"{run.agent} {run.agent_version}", note=run.agent_digest[:16]),
        Fact(_("Version"), str(run.version), note=_("rises with every commit")),
        Fact(_("Epoch"), str(run.epoch)),
        Fact(_("Last event"), str(run.event_seq), note=bytes(run.event_hash).hex()[:16]),
        Fact(_("Input digest"), run.input_digest, mono=True),
        Fact(_("Begun"), at=run.created_at),
    ]
    if run.deadline is not None:
        facts.append(Fact(_("Deadline"), at=run.deadline))
    if run.lineage != run.pk:
        facts.append(Fact(_("Lineage"), public("run", run.lineage), mono=True))
    for step in steps:
        if step.status == "RUNNING" and step.owner is not None:
            where = f"{step.owner.node}, pid {step.owner.pid}"
            told = _("fence %(fence)s, epoch %(epoch)s, attempt %(attempt)s") % {
                "fence": step.fence,
                "epoch": step.epoch,
                "attempt": step.attempt,
            }
            facts.append(Fact(_("Lease: %(step)s") % {"step": step_name(step)}, where, note=told))
    return facts


def _effect_words(intent: Intent, names: Mapping[Any, str]) -> str:
    name = names.get(intent.step_id) or intent.tool.title or intent.tool.name
    return f"{name}: {intent.target}" if intent.target and intent.target not in name else name


def _share(used: Any, limit: Any) -> str:
    try:
        part, whole = Decimal(str(used)), Decimal(str(limit))
    except InvalidOperation:
        return "0%"
    return f"{min(Decimal(100), 100 * part / whole):.2f}%" if whole > 0 else "0%"
