"""What hides or pretends is found, and nothing is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals import visible
from approvals.present.parameters import difference, parameters


@pytest.mark.parametrize(
    ("text", "mark", "name"),
    [
        ("pay\u202etxt.exe", "bidirectional", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("a\u200bb", "hidden", "U+200B ZERO WIDTH SPACE"),
        ("a\u00a0b", "hidden", "U+00A0 NO-BREAK SPACE"),
        ("h\u0430lden", "look_alike", "U+0430 CYRILLIC SMALL LETTER A"),
        ("a\u2044b", "look_alike", "U+2044 FRACTION SLASH"),
        ("bell\x07", "hidden", "U+0007 control character"),
    ],
)
def test_each_kind_is_named(text, mark, name):
    assert [(one.mark, one.name) for one in visible.odd_signs(text)] == [(mark, name)]


@given(st.text())
def test_nothing_is_lost_between_the_segments(text):
    assert "".join(part.text for part in visible.segments(text)) == text


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("legal@h\u0430lden.example", {"h\u0430lden.example": "xn--hlden-4ve.example"}),
        ("https://m\u00fcller.example/path", {"m\u00fcller.example": "xn--mller-kva.example"}),
        ("legal@halden.example", {}),
        ("a@\u202e.example", {"\u202e.example": ""}),
    ],
)
def test_host_names_as_the_network_sees_them(text, hosts):
    assert visible.ascii_hosts(text) == hosts


def test_a_text_that_stands_above_is_only_named_when_it_is_the_same():
    letter = {"text": "Dear Sir,\r\n\r\nBye."}
    assert parameters(letter, "Dear Sir,\n\nBye.\n")[0].value.startswith("As shown above")
    assert parameters(letter, "Dear Sir,\n\nBuy.\n")[0].value == letter["text"]


def test_numbers_are_shown_with_every_digit():
    shown = {one.name: one.value for one in parameters({"amount": 1840.1, "id": 12345678901234567})}
    assert shown == {"amount": "1840.1", "id": "12345678901234567"}


def test_only_the_words_that_differ_are_marked():
    found = difference(
        title="",
        then={"text": "name a contact soon", "cc": "x"},
        now={"text": "name a contact today", "bcc": "y"},
    )
    assert found is not None
    rows = {row.name: row for row in found.rows}
    assert [(part.text, part.changed) for part in rows["text"].now_parts] == [
        ("name a contact ", False),
        ("today", True),
    ]
    assert (rows["cc"].then, rows["cc"].now) == ("x", "")
    assert (rows["bcc"].then, rows["bcc"].now) == ("", "y")


def test_equal_questions_have_no_difference():
    assert difference(title="", then={"a": 1}, now={"a": 1}) is None
