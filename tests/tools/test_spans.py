"""Lengths of time as people type them. No database."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from tools import forms, policy, spans
from tools.forms.fields import Span
from tools.present.path import policy_words


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("", 0),
        ("  ", 0),
        ("4", 14_400),
        ("1.5", 5400),
        ("1,5 h", 5400),
        ("30 min", 1800),
        ("2 days", 172_800),
        ("1 d 12 h", 129_600),
        ("1d12h", 129_600),
        ("90 S", 90),
        ("4小时", 14_400),
        ("1 周", 604_800),
    ],
)
def test_what_people_type_is_read(typed, seconds):
    assert spans.read(typed) == seconds


@pytest.mark.parametrize(
    "typed", ["soon", "4 x", "-4", "1 2 h", "4 h 5", "1e3", "0.0001 s", "h", "٤ h", "9" * 30]
)
def test_what_is_no_time_is_refused(typed):
    assert spans.read(typed) is None


@pytest.mark.parametrize("seconds", [1, 60, 90, 3600, 5400, 86_400, 129_601, 31_536_000])
def test_what_is_shown_is_read_as_the_same(seconds):
    """Guards tools/spans.py `words`: what is opened and saved unchanged says the same."""
    field = Span(most=policy.LONGEST_WAIT)
    assert field.clean(field.prepare_value(seconds)) == seconds


def test_a_time_has_an_end():
    with pytest.raises(ValidationError, match="At most 365 days"):
        Span(most=policy.LONGEST_WAIT).clean("366 days")


SAID = {"group": "Finance", "remind_after_seconds": 5400, "escalate_after_seconds": 86_400}


@pytest.mark.parametrize("stored", [{}, SAID, {"quorum": 2, **SAID, "editor_may_approve": True}])
def test_a_stored_policy_comes_back_the_same_through_its_form(stored):
    """Guards tools/forms/policy.py: a group that is gone meanwhile stays until somebody chooses another."""
    began = forms.policy_began(stored)
    blank = forms.PolicyForm(initial=began, groups=["Legal"])
    typed = {name: blank[name].value() for name in blank.fields}
    typed |= {
        name: spans.words(began[name]) if began[name] else "" for name in ("remind_after", "escalate_after")
    }
    form = forms.PolicyForm(
        {k: v for k, v in typed.items() if v is not False}, initial=began, groups=["Legal"]
    )
    assert form.is_valid(), form.errors
    assert forms.policy_of(form, []) == stored


def test_a_policy_is_told_in_words():
    assert policy_words({"quorum": 2, **SAID, "editor_may_approve": True}) == [
        "2 people agree (Approver in the group Finance).",
        "They are reminded after 1 h 30 min.",
        "It goes to the escalation owner after 1 day.",
        "Whoever changes the arguments may also approve them, with a reason.",
    ]
