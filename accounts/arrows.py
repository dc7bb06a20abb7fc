"""The table of state arrows, derived from the django-fsm decorators on a model: one source for the single
path, for batches in SQL and for the diagram in the documentation."""

import functools
from typing import Any

from django.db import models
from django_fsm import FSMField


class RefusedTransition(Exception):
    """The row was not in a state (or at a version) that allows this transition. Nothing was changed."""

    def __init__(self, what: str, transition: str, found: str) -> None:
        super().__init__(f"{what} cannot {transition}: it is {found}.")
        self.what, self.transition, self.found = what, transition, found


@functools.cache
def arrows(model: type[models.Model], field: str = "status") -> dict[tuple[str, str], str]:
    """``{(transition, source): target}`` of one state field.

    Conditions and dynamic targets are refused: a batch in SQL could not obey them.
    """
    column = model._meta.get_field(field)
    assert isinstance(column, FSMField)
    table: dict[tuple[str, str], str] = {}
    for arrow in column.get_all_transitions(model):
        if arrow.conditions or not isinstance(arrow.target, str) or arrow.source in ("*", "+"):
            raise TypeError(
                f"{model.__name__}.{arrow.name}: arrows have plain sources, plain targets and no conditions"
            )
        table[arrow.name, arrow.source] = arrow.target
    return table


def sources(model: type[models.Model], transition: str, field: str = "status") -> list[str]:
    """The states from which a transition may start, sorted."""
    return sorted(source for name, source in arrows(model, field) if name == transition)


def target(model: type[models.Model], transition: str, field: str = "status") -> str:
    """The one state in which a transition ends."""
    ends = {end for (name, _), end in arrows(model, field).items() if name == transition}
    if len(ends) != 1:
        raise KeyError(f"{model.__name__} has no single target for {transition!r}")
    return ends.pop()


def move(row: Any, transition: str, *, field: str = "status", **guards: Any) -> None:
    """One guarded transition: the arrow is checked, then written with a conditional update that compares
    the state just read and every ``guard`` (fence, version, owner …). Joins the caller's transaction.
    Changes other than the state are set on the row beforehand and listed in ``guards`` under ``changes``.

    Raises :class:`RefusedTransition` when somebody else was first.
    """
    changes: dict[str, Any] = guards.pop("changes", {})
    before = getattr(row, field)
    model: type[models.Model] = type(row)
    try:
        after = arrows(model, field)[transition, before]
    except KeyError:
        raise RefusedTransition(model.__name__, transition, before) from None
    won = model._base_manager.filter(pk=row.pk, **{field: before}, **guards).update(
        **{field: after}, **changes
    )
    if won != 1:
        found = model._base_manager.filter(pk=row.pk).values_list(field, flat=True).first()
        raise RefusedTransition(model.__name__, transition, str(found))
    row.__dict__[field] = after
    row.__dict__.update(
        {name: value for name, value in changes.items() if not hasattr(value, "resolve_expression")}
    )
