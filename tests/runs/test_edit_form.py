"""The form in which what would be sent is changed: what was not touched stays as it was, digit for digit and line for line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.edit_form import EditForm

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "amount": {"type": "number"},
        "lines": {"type": "array"},
        "how": {"enum": ["fast", "slow", 3]},
        "sure": {"type": "boolean"},
        "note": {"type": "string"},
    },
    "required": ["text", "amount"],
}
SEEN = {"digest": "d" * 64, "generation": 1}


def browser(arguments: dict[str, Any]) -> dict[str, str]:
    """What a browser would send of the untouched form: CR LF in large fields, no line ends in small ones."""
    sent = {}
    for field in EditForm(SCHEMA, arguments, initial=SEEN):
        value = field.value()
        text = ("" if value is None else str(value)).replace("\r\n", "\n").replace("\r", "\n")
        large = field.as_widget().startswith("<textarea")
        sent[field.html_name] = text.replace("\n", "\r\n" if large else "")
    return sent


def posted(arguments: dict[str, Any], **typed: str) -> EditForm:
    form = EditForm(SCHEMA, arguments, {**browser(arguments), **typed}, initial=SEEN)
    form.is_valid()
    return form


@pytest.mark.parametrize(
    "text", ["", "one", "one\ntwo\n", "one\r\ntwo", "one\r\ntwo\nthree", "a\rb", "\n lead", "é\u202e"]
)
@pytest.mark.parametrize("amount", [0, 9007199254740991, 10**16, 0.1, 1e-7, 1234567.89])
def test_what_was_not_touched_stays_as_it_was(text: str, amount: float) -> None:
    """Guards runs/edit_form.py `Text.clean` and `JsonText`: an edit of one argument changes no other one."""
    arguments = {
        "text": text,
        "amount": amount,
        "lines": [{"sku": "a", "price": "0.10"}, None, 10**16],
        "how": 3,
        "sure": False,
        "extra": {"of": "no schema"},
    }
    form = posted(arguments)
    assert form.errors == {}
    assert json.dumps(form.arguments, sort_keys=True) == json.dumps(arguments, sort_keys=True)


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [("a\nb", "a\r\nc", "a\nc"), ("a\r\nb", "a\r\nc", "a\r\nc"), ("a\r\nb\nc", "a\r\nb", "a\nb")],
)
def test_line_ends_of_a_changed_text(before: str, typed: str, after: str) -> None:
    assert posted({"text": before, "amount": 1}, arg_text=typed).arguments["text"] == after


@pytest.mark.parametrize("typed", ["12345678901234567.89", "9007199254740993", "0.1000000000000000055"])
def test_a_number_that_would_be_rounded_is_refused_at_its_field(typed: str) -> None:
    """Guards accounts/canonical.py `_decimal` and `_integer`: what a person typed is never rounded in silence."""
    form = posted({"text": "a", "amount": 1}, arg_amount=typed)
    assert "send it as text" in str(form.errors["arg_amount"])
    assert form["arg_amount"].value() == typed
