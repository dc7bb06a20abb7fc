"""JSON that another parser would read differently, or that nobody can store: refused with 400 before anything is done."""

from __future__ import annotations

import pytest

from runs.models import Run
from tests.make.runs import house
from tests.rest.client import Rest

pytestmark = pytest.mark.django_db(transaction=True)

TASK = '{"agent": "contract-review", "goal": "Review", "input": {"notify": "", "more": %s}}'


@pytest.fixture
def ada():
    linden = house()
    return Rest(linden.ada, linden.tenant, "read", "submit")


def refusal(ada: Rest, value: str) -> str:
    answer = ada.post("tasks/", raw=(TASK % value).encode())
    assert answer.status_code == 400, answer.content
    assert "Nothing was done." in answer.json()["detail"]
    assert Run.everywhere.count() == 0
    return str(answer.json()["code"])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_b80_what_is_no_number_is_refused_at_the_edge(ada, number):
    """Guards accounts/canonical.py `_constant` and `_check_number`, reached through accounts/rest/parsers.py."""
    assert refusal(ada, f'{{"amount": {number}}}') == "not_finite"


def test_b81_a_key_that_stands_twice_deep_inside_is_refused(ada):
    """Guards accounts/canonical.py `_object`: the digest is never taken of what another parser reads differently."""
    assert refusal(ada, '{"amount": 1, "amount": 820000}') == "duplicate_key"


@pytest.mark.parametrize("depth", [40, 5000, 200_000])
def test_b82_nesting_without_end_is_refused_and_is_no_crash(ada, depth):
    """Guards accounts/canonical.py `_check_depth`: measured on the text, before a parser goes down into it."""
    assert refusal(ada, '{"a": ' + "[" * depth + "]" * depth + "}") == "too_deep"


def test_b78_nul_and_b79_half_a_character_are_refused_by_name(ada):
    """Guards accounts/canonical.py `_check_text`."""
    assert refusal(ada, '{"text": "a\\u0000b"}') == "nul"
    assert refusal(ada, '{"text": "\\ud800"}') == "lone_surrogate"


def test_what_is_well_formed_comes_through_to_the_next_check(ada):
    """Else every refusal above would prove nothing."""
    answer = ada.post("tasks/", raw=(TASK % '{"amount": 1.5}').encode())
    assert answer.status_code == 422, answer.content
