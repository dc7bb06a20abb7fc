"""Rules in the form: what is stored comes back as lines, and the same lines store the same rules."""

from __future__ import annotations

from typing import Any

import pytest

from tools import forms, policy
from tools.present.path import rule_words

RULES = [
    {"argument": "amount", "over": "1000.01", "then": "approval", "quorum": 2, "why": "Much."},
    {"argument": "amount", "over": 1000, "then": "approval"},
    {"argument": "amount", "over": "1000.10", "then": "blocked"},
    {"argument": "a", "total_over": "5000.00", "per": "run", "then": "approval"},
    {"argument": "a", "total_over": "5000", "per": "day", "tools": ["pay.b", "pay.c"], "then": "blocked"},
    {"argument": "to", "not_ends_with": "@linden.example", "then": "blocked"},
    {"argument": "cc.*", "not_ends_with": ["@a.example", "@b.example"], "optional": True, "then": "blocked"},
    {"argument": "text", "longer_than": 2000, "then": "approval"},
    {"argument": "kind", "is": "1", "then": "approval"},
    {"argument": "kind", "one_of": ["a", 1, True], "then": "approval"},
    {
        "all": [
            {"argument": "to", "not_ends_with": "@linden.example"},
            {"argument": "amount", "over": "5.50"},
            {"argument": "cc", "is": None, "optional": True},
        ],
        "then": "approval",
        "why": "Both.",
    },
]


def typed(lines: list[dict[str, Any]]) -> Any:
    """The lines as a browser sends them."""
    sent: dict[str, Any] = {"rule-TOTAL_FORMS": len(lines), "rule-INITIAL_FORMS": 0}
    for n, line in enumerate(lines):
        for name, value in line.items():
            if value is not False:
                kept = ", ".join(value) if isinstance(value, list) else value
                sent[f"rule-{n}-{name}"] = "on" if value is True else kept
    return forms.RuleFormSet(sent, prefix="rule")


@pytest.mark.parametrize("rules", [[rule] for rule in RULES] + [RULES])
def test_what_is_stored_comes_back_the_same(rules):
    assert policy.faults({"rules": rules}) == []
    form = typed(forms.rule_lines({"rules": rules}))
    assert form.is_valid(), form.errors
    assert forms.rules_of(form) == rules


@pytest.mark.parametrize("how", ["over", "under", "total_run", "total_day", "longer_than", "ends_with"])
@pytest.mark.parametrize("value", ["", " "])
def test_a_comparison_without_a_value_is_refused(how, value):
    form = typed([{"argument": "a", "comparison": how, "value": value}])
    assert not form.is_valid()
    assert "value" in form.forms[0].errors


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_said(rule):
    said = rule_words(rule)
    for one in policy.conditions(rule):
        assert one["argument"] in said
