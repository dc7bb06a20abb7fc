"""What JSON is let in, how it is written for a digest, and what becomes of a tool's odd result."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.canonical import BadInput, canonical, check_storable, digest, storable, strict_loads

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])), inner, max_size=4
    ),
    max_leaves=20,
)  # fmt: skip


def code(text: str | bytes, **limits: int) -> str:
    with pytest.raises(BadInput) as caught:
        strict_loads(text, **limits)
    return caught.value.code


@pytest.mark.parametrize("text", ['"a\\u0000b"', '{"k\\u0000": 1}', '["\\u0000"]'])
def test_b78_nul_is_refused_at_the_edge(text: str) -> None:
    """Guards accounts/canonical.py `_check_text`, its NUL branch."""
    assert code(text) == "nul"


@pytest.mark.parametrize("text", ['"\\ud800"', '{"\\udfff": 1}', '["\\udc00\\ud800"]'])
def test_b79_half_a_character_is_refused_at_the_edge(text: str) -> None:
    """Guards accounts/canonical.py `_check_text`, its surrogate branch."""
    assert code(text) == "lone_surrogate"


def test_a_whole_pair_is_one_character() -> None:
    assert strict_loads('"\\ud83d\\ude00"') == "😀"


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e400"])
def test_b80_numbers_are_finite(text: str) -> None:
    """Guards accounts/canonical.py `_constant` and `_check_number`."""
    assert code(text) == "not_finite"


@pytest.mark.parametrize("text", ['{"amount": 1, "amount": 820000}', '[{"a": {"b": 1, "b": 1}}]'])
def test_b81_no_key_stands_twice(text: str) -> None:
    """Guards accounts/canonical.py `_object`."""
    assert code(text) == "duplicate_key"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 33 + "1" + "}" * 33, "[" * 33 + "]" * 33])
def test_b82_depth_is_measured_before_parsing(text: str) -> None:
    """Guards accounts/canonical.py `_check_depth`: a RecursionError would be a 500, or a killed process."""
    assert code(text) == "too_deep"


@pytest.mark.parametrize("text", ["1.10", "-0.0", "1E2", "0.1", "1234567.89", "1e300", "0e5"])
def test_a_decimal_that_says_the_same_is_let_in(text: str) -> None:
    assert strict_loads(text) == float(text)


def test_the_deepest_allowed_is_let_in() -> None:
    assert strict_loads("[" * 32 + "]" * 32)
    assert strict_loads('["' + "[" * 100 + '", "\\"' + "{" * 100 + '"]')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\xff", "not_utf8"),
        ('{"a": 1', "not_json"),
        ("", "not_json"),
        ("9" * 5000, "number_too_large"),
        (str(2**53 + 1), "number_too_large"),
        ("12345678901234567.89", "number_too_precise"),
        ("9007199254740993.0", "number_too_precise"),
        ("0.1000000000000000055", "number_too_precise"),
        ("1e-400", "number_too_precise"),
        ("1e-99999999999999999999", "number_too_precise"),
    ],
)
def test_what_else_is_refused(text: str | bytes, expected: str) -> None:
    """Guards accounts/canonical.py `_integer` and `_decimal`: a number is kept digit for digit or refused, never rounded."""
    assert code(text) == expected


def test_size_counts_bytes_not_characters() -> None:
    assert strict_loads('"éé"', max_bytes=6) == "éé"
    assert code('"ééé"', max_bytes=7) == "too_large"
    assert code('"ééé"'.encode(), max_bytes=7) == "too_large"


@given(JSON)
def test_the_canonical_form_survives_the_database(value: Any) -> None:
    """PostgreSQL keeps numbers as exact decimals and writes 1e+16 back as an integer; the digest must not notice."""

    def as_postgres_writes(item: Any) -> Any:
        if isinstance(item, float) and item == int(item):
            return int(format(item, ".0f")) if abs(item) < 2**53 else int(repr_as_integer(item))
        if isinstance(item, list):
            return [as_postgres_writes(one) for one in item]
        if isinstance(item, dict):
            return {key: as_postgres_writes(one) for key, one in reversed(item.items())}
        return item

    def repr_as_integer(item: float) -> str:
        from decimal import Decimal

        return format(Decimal(repr(item)), "f").split(".")[0]

    assert digest(as_postgres_writes(value)) == digest(value)
    assert canonical(json.loads(canonical(value))) == canonical(value)


def test_rfc_8785_examples() -> None:
    assert canonical({"b": 1.0, "a": [1e21, 1e-7, "\u20ac"], "\u00f6": None}) == (
        '{"a":[1e+21,1e-7,"€"],"b":1,"ö":null}'.encode()
    )


@given(st.dictionaries(st.text() | st.integers(), st.text() | st.floats() | st.binary() | st.integers()))
def test_b78_whatever_a_tool_returns_can_be_stored(value: Any) -> None:
    """Guards accounts/canonical.py `storable`: a success must never become a retry."""
    stored, marked = storable(value)
    check_storable(stored)
    canonical(stored)
    assert marked == (stored != value)


def test_b80_a_number_of_a_tool_that_is_none_is_written_as_its_name() -> None:
    """Guards accounts/canonical.py `storable`, its branch of numbers: kept, readable and marked."""
    assert storable({"rate": math.nan, "sum": [math.inf, 1.5]}) == (
        {"rate": "NaN", "sum": ["Infinity", 1.5]},
        True,
    )


def test_odd_values_stay_readable() -> None:
    stored, marked = storable({"a": "x\x00\ud800", "b": math.nan, "c": -math.inf, "d": 10**400, 1: (1, 2)})
    assert stored["a"] == "x\\u0000\\ud800"
    assert (stored["b"], stored["c"]) == ("NaN", "-Infinity")
    assert stored["1"] == [1, 2]
    assert marked
    assert storable({"plain": [1, 2.5, None, True, "text"]}) == (
        {"plain": [1, 2.5, None, True, "text"]},
        False,
    )


def test_depth_without_end_is_cut() -> None:
    endless: list[Any] = []
    endless.append(endless)
    stored, marked = storable(endless)
    check_storable(stored)
    assert marked
    with pytest.raises(BadInput):
        check_storable(endless)
