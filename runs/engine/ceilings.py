"""The limits that a task is submitted with (S9): each may lower what its agent declares, none may raise it. Only a person
who takes the run over can add something later, and that is on record."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from approvals.clock import db_now
from runs import budget
from runs.errors import BadTask


def budget_of(declared: Mapping[str, Any], limits: Mapping[str, Any]) -> dict[str, Any]:
    """The budget of a run: what the agent declares, lowered by ``limits``. Raises :class:`BadTask`."""
    wanted = {name: _limit(name, value, declared.get(name)) for name, value in limits.items()}
    return {**declared, **wanted}


def check_deadline(deadline: datetime | None) -> None:
    """A deadline is an instant to come, by the database's clock. Raises :class:`BadTask`."""
    if deadline is None:
        return
    if deadline.tzinfo is None:
        raise BadTask(_("The deadline needs a time zone. Nothing was created."), "deadline")
    if deadline <= db_now():
        raise BadTask(_("The deadline has passed already. Nothing was created."), "deadline")


def _limit(name: str, value: Any, most: Any) -> int | str:
    field = f"limits.{name}"
    if name not in budget.NAMES:
        raise BadTask(_("There is no limit of that name: %s. Nothing was created.") % name[:60], field)
    try:
        given = Decimal(str(value))
    except InvalidOperation:
        given = Decimal("NaN")
    whole = name != "cost"
    if not given.is_finite() or given <= 0 or given > budget.MOST or (whole and given % 1):
        text = _("The limit %(name)s must be a number above 0. Nothing was created.") % {"name": name}
        raise BadTask(text, field)
    if most is not None and given > Decimal(str(most)):
        text = _("The limit %(name)s can be %(most)s at most for this agent. Nothing was created.")
        text %= {"name": name, "most": most}
        raise BadTask(text, field)
    return int(given) if whole else budget.text(budget.amount(given))
