"""Rules over arguments as tables: paths, money digit for digit, text, combinations, totals. No database."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tools import policy
from tools.policy import Earlier


def applies(arguments, *earlier, tool="pay", **rule) -> bool:
    ruled = policy.apply(
        {"rules": [{"then": "approval", **rule}]}, arguments, tool=tool, earlier=list(earlier)
    )
    return bool(ruled.approval)


#: Whatever could be read in two ways is not read at all, and then the rule applies.
NO_NUMBERS: list[Any] = [
    *("1,000", "1.000,00", "EUR 5", " 5", "5 ", "5\n", "0x5", "1e3", "", "٥", "NaN", "Infinity"),
    *(None, True, [], {}, [5]),
]


@pytest.mark.parametrize(
    ("value", "over", "expected"),
    [
        ("1000.01", 1000, True),
        ("1000.00", 1000, False),
        ("999.99", "1000.00", False),
        # The same as doubles: only as digits are they told apart.
        ("9007199254740993.01", "9007199254740993.00", True),
        ("0.30", "0.3", False),
        (0.3, "0.3", False),
        (1e16, "9999999999999999", True),
        ("-5", 0, False),
        *[(odd, 10_000, True) for odd in NO_NUMBERS],
    ],
)
def test_money_is_compared_digit_for_digit(value, over, expected):
    """Guards tools/compare.py `number`: money as text is a number, and nothing else than plain digits is."""
    assert applies({"amount": value}, argument="amount", over=over) is expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"items": [{"amount": 1}, {"amount": "5.01"}]}, True),
        ({"items": [{"amount": 1}, {"amount": "5.00"}]}, False),
        ({"items": []}, False),
        ({"items": [{"amount": 1}, {}]}, True),
        ({"items": {"amount": 1}}, True),
        ({"items": None}, True),
        ({}, True),
    ],
)
def test_one_element_of_a_list_is_enough(arguments, expected):
    assert applies(arguments, argument="items.*.amount", over=5) is expected


OURS = {"argument": "to", "not_ends_with": "@linden.example"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ada@linden.example", False),
        ("ada@LINDEN.example", False),
        ("ada@linden.example.evil.example", True),
        ("ada@evil-linden.example", True),
        ("ada@linden.example ", True),
        ("ada@linden.example.", True),
        # The sign for kelvin is no k, whatever case folding says.
        ("ada@lin\u212aen.example", True),
        (["ada@linden.example"], True),
        (None, True),
    ],
)
def test_only_our_own_domain(value, expected):
    assert applies({"to": value}, **OURS) is expected


def test_every_copy_goes_to_our_own_domain():
    cc = {"argument": "cc.*", "not_ends_with": ["@linden.example", "@halden.example"]}
    assert applies({"cc": ["a@linden.example", "b@halden.example"]}, **cc) is False
    assert applies({"cc": ["a@linden.example", "b@evil.example"]}, **cc) is True
    assert applies({}, **cc) is True
    assert applies({}, **cc, optional=True) is False


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ({"longer_than": 3}, "abcd", True),
        ({"longer_than": 3}, "abc", False),
        ({"longer_than": 3}, 1, True),
        ({"starts_with": ["+7", "+8"]}, "+86 1", True),
        ({"starts_with": "+7"}, "+86 1", False),
        ({"not_starts_with": "DE"}, "de12", False),
        ({"not_starts_with": "DE"}, "FR12", True),
        ({"ends_with": ".exe"}, "setup.EXE", True),
        ({"ends_with": ".exe"}, "setup.txt", False),
        ({"is": 0}, "0.00", True),
        ({"is": "0"}, 0, False),
        ({"is": 1}, True, False),
        ({"one_of": [1, 2]}, "2.0", True),
        ({"not_one_of": ["EUR"]}, "eur", True),
    ],
)
def test_comparisons_of_text_and_values(rule, value, expected):
    assert applies({"a": value}, argument="a", **rule) is expected


BOTH = [OURS, {"argument": "amount", "over": 100}]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"to": "x@evil.example", "amount": 101}, True),
        ({"to": "x@evil.example", "amount": 100}, False),
        ({"to": "x@linden.example", "amount": 101}, False),
        ({"to": "x@evil.example"}, True),
    ],
)
def test_all_of_several_conditions(arguments, expected):
    assert applies(arguments, all=BOTH) is expected


def test_a_total_counts_what_came_before():
    """Guards tools/policy.py `_total`: an amount that is split does not slip under."""
    limit = {"argument": "amount", "total_over": "1000.00"}
    assert applies({"amount": "600.00"}, **limit) is False
    assert applies({"amount": "400.00"}, Earlier("pay", {"amount": "600.00"}), **limit) is False
    assert applies({"amount": "400.01"}, Earlier("pay", {"amount": "600.00"}), **limit) is True
    tenths = [Earlier("pay", {"amount": 0.1}) for _ in range(9)]
    assert applies({"amount": 0.1}, *tenths, argument="amount", total_over=1) is False
    assert applies({"amount": "0.1000000000000000000000001"}, *tenths, argument="amount", total_over=1)


def test_a_total_counts_only_its_own_tools_and_time():
    limit = {"argument": "amount", "total_over": 10}
    other = Earlier("pay.other", {"amount": 9})
    assert applies({"amount": 9}, other, **limit) is False
    assert applies({"amount": 9}, other, **limit, tools=["pay.other"]) is True
    another_run = Earlier("pay", {"amount": 9}, run=False)
    assert applies({"amount": 9}, another_run, **limit) is False
    assert applies({"amount": 9}, another_run, **limit, per="day") is True
    yesterday = Earlier("pay", {"amount": 9}, day=False)
    assert applies({"amount": 9}, yesterday, **limit, per="day") is False


def test_nothing_negative_makes_room_in_a_total():
    """Guards tools/compare.py `added`."""
    back = Earlier("pay", {"amount": -900})
    assert applies({"amount": 600}, Earlier("pay", {"amount": 600}), back, argument="amount", total_over=1000)


def test_a_total_that_cannot_be_told_applies():
    limit = {"argument": "amount", "total_over": 1000}
    assert applies({}, **limit) is True
    assert applies({"amount": "much"}, **limit) is True
    assert applies({"amount": 1}, Earlier("pay", {"amount": "much"}), **limit) is True


def test_a_total_over_the_elements_of_lists():
    limit = {"argument": "items.*.amount", "total_over": 10}
    first = Earlier("pay", {"items": [{"amount": 3}, {"amount": "3.5"}]})
    assert applies({"items": [{"amount": "3.5"}]}, first, **limit) is False
    assert applies({"items": [{"amount": "3.5"}, {"amount": "0.01"}]}, first, **limit) is True


def test_the_total_is_told():
    rule = {"argument": "amount", "total_over": 1000, "then": "blocked", "why": "Enough."}
    ruled = policy.apply(
        {"rules": [rule]}, {"amount": "400.10"}, tool="pay", earlier=[Earlier("pay", {"amount": "600.00"})]
    )
    (one,) = ruled.blocked
    assert one.total is not None
    assert (one.why, one.total.before, one.total.now, one.total.most) == (
        "Enough.",
        Decimal("600.00"),
        Decimal("1000.10"),
        Decimal(1000),
    )


GOOD = {"argument": "a", "over": "9.50", "then": "approval"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"over": "9,50"}, "'over' is not a number"),
        ({"over": True}, "'over' is not a number"),
        ({"under": 1}, "it needs exactly one comparison"),
        ({"argument": ""}, "it names no argument"),
        ({"argument": "a..b"}, "a part of its argument is empty"),
        ({"then": "auto"}, "'then' is neither 'approval' nor 'blocked'"),
        ({"quorum": 0}, "'quorum' is not a number of people from 1 to 20"),
        ({"why": 5}, "'why' is not a text"),
        ({"per": "run"}, "'per' belongs to 'total_over'"),
        ({"optional": 1}, "'optional' is neither true nor false"),
        ({"surprise": 1}, "'surprise' is no part of a rule"),
        ({"all": [{"argument": "b", "is": 1}]}, "'all' is not a list of 2 to 5 conditions"),
        ({"over": None, "longer_than": -1}, "it needs exactly one comparison"),
    ],
)
def test_a_malformed_rule_is_told_by_its_place(change, fault):
    found = policy.faults({"rules": [GOOD, {**GOOD, **change}]})
    assert f"rule 2: {fault}" in found
    assert not any(one.startswith("rule 1") for one in found)


@pytest.mark.parametrize(
    ("condition", "fault"),
    [
        ({"total_over": 1, "per": "week"}, "'per' is neither 'run' nor 'day'"),
        ({"total_over": 1, "tools": "pay"}, "'tools' is not a list of at most 20 names"),
        ({"total_over": "x"}, "'total_over' is not a number"),
        ({"longer_than": 1.5}, "'longer_than' is not a number of characters"),
        ({"ends_with": []}, "'ends_with' is neither a text nor a list of texts"),
        ({"ends_with": ["", "x"]}, "'ends_with' is neither a text nor a list of texts"),
        ({"one_of": "x"}, "'one_of' is not a list"),
        ({"then": "approval", "is": 1}, "'then' is no part of a condition"),
    ],
)
def test_a_malformed_condition_is_told_by_its_place(condition, fault):
    rule = {"all": [{"argument": "a", "is": 1}, {"argument": "b", **condition}], "then": "approval"}
    assert policy.faults({"rules": [rule]}) == [f"rule 1: condition 2: {fault}"]


@pytest.mark.parametrize(
    "rule",
    [
        GOOD,
        {"all": BOTH, "then": "blocked", "why": "No."},
        {"argument": "a", "total_over": "1", "per": "day", "tools": ["x"], "then": "approval", "quorum": 2},
        {"argument": "a.*", "ends_with": ["x", "y"], "optional": True, "then": "blocked"},
    ],
)
def test_a_good_rule_has_no_fault(rule):
    assert policy.faults({"rules": [rule]}) == []
