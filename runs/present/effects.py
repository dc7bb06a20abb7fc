"""Effects that were sent, as a card of the task, with what people reported of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from tools.models import DuplicateReport, Intent


@dataclass(frozen=True, slots=True)
class EffectLine:
    """One effect. ``state`` in words, with tone and mark; empty when nobody reported anything."""

    text: str
    reference: str
    state: str
    tone: str
    mark: str
    url: str


def lines(effects: Iterable[Intent], names: Mapping[Any, str]) -> list[EffectLine]:
    """In the order given."""
    return [_line(effect, names) for effect in effects]


def state(reports: Iterable[DuplicateReport]) -> tuple[str, str, str]:
    """Words, tone and mark for all that was reported of one effect."""
    found = list(reports)
    if any(one.confirmed for one in found):
        return _("Happened twice: confirmed"), "failed", "failed"
    if any(one.confirmed is None for one in found):
        return _("Reported as a duplicate"), "waiting", "waiting"
    if found:
        return _("Reported and dismissed"), "stopped", "stopped"
    return "", "", ""


def _line(effect: Intent, names: Mapping[Any, str]) -> EffectLine:
    name = names.get(effect.step_id) or effect.tool.title or effect.tool.name
    text = f"{name}: {effect.target}" if effect.target and effect.target not in name else name
    words, tone, mark = state(effect.duplicates.all())
    url = reverse("runs:duplicate", args=[effect.run_id, effect.pk])
    return EffectLine(text, effect.reference, words, tone, mark, url)
