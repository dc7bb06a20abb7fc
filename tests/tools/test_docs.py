"""The page about contracts names every field, rule and comparison that there is."""

from __future__ import annotations

import re

import pytest

from tests.needs import ROOT
from tools import compare, contracts, policy
from tools.contradictions import ADAPTERS
from tools.models import Contract, EffectClass, Risk

PAGE = (ROOT / "docs" / "reference" / "contracts.md").read_text()
#: What stands in the first column of its tables, between backticks.
ROWS = {
    name
    for row in re.findall(r"^\| (`.*?) \|", PAGE, flags=re.MULTILINE)
    for name in re.findall(r"`(\w+)`", row)
}


def test_every_field_has_a_row_and_every_row_is_a_field():
    who_agrees = policy.PARTS - {"path", "rules"}
    assert {*contracts.DEFINITION, *contracts.LATER, *contracts.RULES, *who_agrees} == ROWS


@pytest.mark.parametrize(
    "values",
    [
        ADAPTERS,
        EffectClass.values,
        Risk.values,
        Contract.Concerns.values,
        Contract.FenceRule.values,
        Contract.TakeoverRule.values,
        Contract.Isolation.values,
        Contract.LastResort.values,
        compare.COMPARISONS,
    ],
)
def test_every_value_is_named(values):
    assert [value for value in values if f"`{value}`" not in PAGE] == []
