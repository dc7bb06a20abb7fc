"""The limits in the form of a new task: what it may use at most, and until when. The ceiling is the agent's budget."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from runs.agents.base import Agent

PREFIX = "limit_"
DEADLINE = PREFIX + "deadline"
SECONDS_IN_A_MINUTE = 60


def limit_fields(agent: Agent) -> dict[str, forms.Field]:
    """One optional field for each budget of the agent, and the deadline."""
    labels = {
        "steps": _("Steps"),
        "tool_calls": _("Tool calls"),
        "model_calls": _("Model calls"),
        "tokens": _("Tokens"),
        "cost": _("Cost"),
        "wall_seconds": _("Minutes of work"),
    }
    fields: dict[str, forms.Field] = {
        PREFIX + name: _amount(name, label, Decimal(str(agent.budget[name])))
        for name, label in labels.items()
        if agent.budget.get(name) is not None
    }
    fields[DEADLINE] = forms.DateTimeField(
        label=_("Deadline"),
        required=False,
        help_text=_("Then it stops and asks a person, whatever it waits for."),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    return fields


def limits_of(cleaned: Mapping[str, Any]) -> dict[str, str]:
    """What was filled in, as submit takes it: amounts as text, times in seconds."""
    found = {
        name.removeprefix(PREFIX): value
        for name, value in cleaned.items()
        if name.startswith(PREFIX) and name != DEADLINE and value is not None
    }
    if "wall_seconds" in found:
        found["wall_seconds"] *= SECONDS_IN_A_MINUTE
    return {name: str(value) for name, value in found.items()}


def _amount(name: str, label: str, most: Decimal) -> forms.Field:
    if name == "cost":
        return forms.DecimalField(
            label=label, required=False, min_value=Decimal("0.000001"), max_value=most, help_text=_most(most)
        )
    whole = int(most) // SECONDS_IN_A_MINUTE if name == "wall_seconds" else int(most)
    return forms.IntegerField(
        label=label, required=False, min_value=1, max_value=max(1, whole), help_text=_most(whole)
    )


def _most(most: Any) -> str:
    return _("%(most)s at most") % {"most": most}
