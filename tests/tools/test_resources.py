"""The name of a resource, from a template and arguments. No database."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tools import make
from tools import gate, resources
from tools.contradictions import contradictions
from tools.models import Contract

SCHEMA = {
    "type": "object",
    "properties": {
        "account": {"type": "string"},
        "order": {"type": "object", "properties": {"id": {"type": "integer"}}},
    },
}
STRICT = {
    "effect_class": "compensable",
    "compensating_tool": "drill.undo",
    "fence_rule": "strict",
    "resource": "account/{account}",
    "input_schema": SCHEMA,
}


def verdict(arguments: dict[str, object], **declared: object) -> gate.Verdict:
    contract = make.unsaved(**{**STRICT, **declared})
    return gate.decide(contract=gate.facts(contract), arguments=arguments, run=gate.RunFacts())


def test_arguments_fill_the_template():
    assert resources.name_of("account/{account}", {"account": "DE-17"}) == "account/DE-17"
    assert resources.name_of("{order.id}@{account}", {"account": "a", "order": {"id": 7}}) == "7@a"
    assert resources.name_of("ledger", {}) == "ledger"


@example("1/2", "3", "1", "2/3")
@example("1%2F2", "3", "1/2", "3")
@given(
    st.text(min_size=1, max_size=40),
    st.text(min_size=1, max_size=40),
    st.text(min_size=1, max_size=40),
    st.text(min_size=1, max_size=40),
)
def test_two_resources_never_share_a_name(a, b, c, d):
    one = resources.name_of("{a}/{b}", {"a": a, "b": b})
    other = resources.name_of("{a}/{b}", {"a": c, "b": d})
    assert (one == other) == ((a, b) == (c, d))


@pytest.mark.parametrize("value", [None, "", True, 1.5, {"a": 1}, ["x"]])
def test_a_call_that_names_no_resource_is_blocked_with_words(value):
    word = verdict({"account": value}, input_schema={})
    assert word.path == "blocked"
    assert word.reasons[0].code == "resource"
    assert "account" in str(word.reasons[0])


def test_a_missing_argument_is_blocked_with_words_and_a_named_one_is_not():
    word = verdict({})
    assert [reason.code for reason in word.reasons] == ["resource"]
    assert "the argument account that names it is missing" in str(word.reasons[0])
    assert verdict({"account": "7"}).path == "auto"
    assert verdict({"account": "7" * 400}).path == "blocked"


def test_without_an_order_nothing_is_named():
    assert verdict({}, fence_rule="none", resource="").path == "auto"


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ({"resource": "account/{acount}"}, "resource_unknown_argument"),
        ({"resource": "order/{order.key}"}, "resource_unknown_argument"),
        ({"input_schema": {}}, "resource_unknown_argument"),
        ({"resource": "account/{account"}, "resource_form"),
        ({"resource": "account/{}"}, "resource_form"),
        ({"resource": "account/{{account}}"}, "resource_form"),
        ({"resource": ""}, "fence_without_resource"),
        ({"fence_rule": "none"}, "resource_without_rule"),
        ({"effect_class": "read_only", "compensating_tool": ""}, "fence_of_read_only"),
        ({"quota_per_hour": 0}, "quota_zero"),
        ({"quota_per_minute": 0}, "quota_zero"),
        ({"quota_per_hour": 5, "quota_per_minute": 6}, "quota_unreachable"),
    ],
)
def test_what_contradicts_itself_is_said(declared, code):
    found = {problem.code for problem in contradictions(make.unsaved(**{**STRICT, **declared}))}
    assert code in found


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"fence_rule": "at_least"},
        {"resource": "order/{order.id}"},
        {"resource": "the ledger", "input_schema": {}},
        {"quota_per_hour": 20, "quota_per_minute": 2},
        {"takeover_rule": Contract.TakeoverRule.KNOWN_GONE},
    ],
)
def test_what_is_kept_may_be_promised(declared):
    assert contradictions(make.unsaved(**{**STRICT, **declared})) == []
