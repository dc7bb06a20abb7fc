"""Echoes of secrets are taken out of what a call brings back."""

from __future__ import annotations

import pytest

from tools.masking import Mask

SECRET = 's3cret/<&"+ value'
MASK = Mask({"crm": SECRET, "pin": "4711", "abc": "abc"})


@pytest.mark.parametrize(
    "echo",
    [
        SECRET,
        "s3cret%2F%3C%26%22%2B%20value",
        "s3cret%2f%3c%26%22%2b%20value",
        "s3cret/%3C%26%22%2B%20value",
        "s3cret%2F%3C%26%22%2B+value",
        'said s3cret/<&\\"+ value.',
        "s3cret/&lt;&amp;&quot;+ value",
        SECRET.upper(),
    ],
)
def test_b75_an_echo_is_masked_however_it_is_written(echo):
    """Guards ``tools/masking.py``: the forms of a value."""
    assert "(crm)" in MASK.text(f"Bearer {echo}!")
    assert "cret" not in MASK.text(f"Bearer {echo}!").lower()


def test_b75_values_are_masked_through_and_through():
    """Guards ``tools/masking.py``: keys, lists, numbers and bytes."""
    answer = {SECRET: [{"deep": (f"x{SECRET}x", 4711, 47110, True, None, 1.5)}], "fine": "text"}
    assert MASK.value(answer) == {
        "(crm)": [{"deep": ["x(crm)x", "(pin)", "(pin)0", True, None, 1.5]}],
        "fine": "text",
    }
    assert MASK.data(b"\x00\xff" + SECRET.encode() + b"\xfe") == b"\x00\xff(crm)\xfe"


def test_b75_a_secret_that_was_cut_is_masked_as_well():
    """Guards ``tools/masking.py``: errors are cut to a length, and half a secret is one."""
    assert MASK.text(f"said {SECRET[:-3]}”.") == "said (crm)”."
    assert MASK.text(f"said {SECRET[:9]}") == "said (crm)"
    assert MASK.text("s3cr") == "s3cr"


def test_too_short_a_value_does_not_eat_the_answer():
    assert MASK.text("abc") == "abc"


def test_without_secrets_nothing_is_touched():
    answer = {"a": (1, 2)}
    assert Mask({}).value(answer) is answer
