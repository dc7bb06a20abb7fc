"""Adds one item to a JSON list column in the statement that changes the row, with the time of the
database."""

from collections.abc import Mapping
from typing import Any

from django.db.models import F, Func, JSONField, Value
from django.db.models.expressions import Combinable

from accounts.canonical import storable


class _Append(Func):
    template = "%(expressions)s"
    arg_joiner = " || "
    output_field = JSONField()


class _Dated(Func):
    template = "jsonb_build_array(%(expressions)s || jsonb_build_object('at', statement_timestamp()))"
    output_field = JSONField()


def appended(column: str, *items: Mapping[str, Any] | None) -> Combinable:
    """``column`` with the items at its end, each with ``at`` (ISO 8601). Empty items are left out; what
    cannot be stored is written as visible text, because evidence must never spoil the record of an
    effect."""
    kept = [storable(dict(item))[0] for item in items if item]
    if not kept:
        return F(column)
    return _Append(F(column), *(_Dated(Value(item, JSONField())) for item in kept))
