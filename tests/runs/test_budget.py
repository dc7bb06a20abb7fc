"""The arithmetic of budgets: decimal, bounded, and never surprised by what a tool says."""

from __future__ import annotations

from decimal import Decimal

import pytest

from runs import budget

NOTHING: dict[str, Decimal] = {}


@pytest.mark.parametrize(
    ("said", "booked"),
    [
        ("0.1", "0.1"),
        ("0.0000001", "0.000001"),
        (3, "3"),
        (-5, "0"),
        ("NaN", "0"),
        ("Infinity", "10000000"),
        ("1e400", "10000000"),
        ("ten", "0"),
        (None, "0"),
        ("", "0"),
    ],
)
def test_what_a_tool_says_becomes_an_amount_that_can_be_stored(said, booked):
    assert budget.text(budget.amount(said)) == booked


def test_ten_cents_three_times_are_thirty():
    spent: dict[str, object] = {}
    for _ in range(3):
        spent["cost"] = budget.add(spent, "cost", budget.amount("0.1"))
    assert spent == {"cost": "0.3"}


@pytest.mark.parametrize(
    ("limits", "spent", "reserved", "wanted", "name"),
    [
        ({"steps": 3}, {"steps": 2}, {}, {"steps": 1}, None),
        ({"steps": 3}, {"steps": 3}, {}, {"steps": 1}, "steps"),
        ({"steps": 3}, {"steps": 1}, {"steps": 2}, {"steps": 1}, "steps"),
        ({"steps": 3}, {"steps": 1}, {"steps": 2}, None, None),
        ({"steps": 3}, {"steps": 2}, {"steps": 2}, None, "steps"),
        ({"cost": "1"}, {"cost": "0.999999"}, {}, {}, None),
        ({"cost": "1"}, {"cost": "1"}, {}, {}, "cost"),
        ({"cost": "1"}, {"cost": "0.5"}, {"cost": "0.5"}, {}, "cost"),
        ({"cost": "1"}, {"cost": "0.5"}, {"cost": "0.5"}, None, None),
        ({"cost": "1"}, {"cost": "0.5"}, {}, {"cost": "0.6"}, "cost"),
        ({"tokens": 10}, {"tokens": 12}, {}, None, "tokens"),
        ({"wall_seconds": 5}, {"wall_seconds": "5.000001"}, {}, None, "wall_seconds"),
        ({}, {"steps": 10**9, "cost": "1000000"}, {}, {"steps": 1}, None),
    ],
)
def test_which_budget_does_not_suffice(limits, spent, reserved, wanted, name):
    held = {key: Decimal(value) for key, value in reserved.items()}
    more = None if wanted is None else {key: Decimal(value) for key, value in wanted.items()}
    found = budget.shortage(limits, spent, reserved=held, wanted=more)
    assert (found.name if found else None) == name
