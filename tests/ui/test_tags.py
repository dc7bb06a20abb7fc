"""Tags of the pages: marks with words, icons with names, controls with their notes."""

import pytest
from django import forms
from django.template import Context, Template
from lucide import IconDoesNotExist

from config.ui.templatetags import ui


def _render(source: str, **context: object) -> str:
    return Template("{% load ui %}" + source).render(Context(context))


def test_a_state_is_shape_word_and_colour() -> None:
    html = _render('{% state "step" "UNKNOWN" %}')
    assert 'class="st unknown"' in html
    assert "<svg" in html
    assert "Unknown outcome" in html


def test_a_state_without_room_for_the_word_still_says_it() -> None:
    html = _render('{% state "step" "FAILED" mark_only=True %}')
    assert 'role="img" aria-label="Failed"' in html


def test_what_a_run_waits_for_outranks_that_it_waits() -> None:
    assert "Unknown outcome" in _render('{% state "run" "WAITING_APPROVAL" waiting_on="settle" %}')
    assert "Needs a person" in _render('{% state "run" "WAITING_APPROVAL" waiting_on="take_over" %}')


def test_an_icon_is_decoration_unless_it_has_a_name() -> None:
    assert 'aria-hidden="true"' in _render('{% icon "search" %}')
    named = _render('{% icon "seal" label=name %}', name='"><b>')
    assert 'role="img"' in named
    assert "<b>" not in named


def test_an_icon_that_does_not_exist_fails_loudly() -> None:
    with pytest.raises(IconDoesNotExist):
        _render('{% icon "no-such-icon" %}')


def test_a_control_names_its_hint_and_its_error() -> None:
    class Form(forms.Form):
        cost = forms.DecimalField(help_text="similar tasks: 1.40")

    form = Form({"cost": "much"})
    html = ui.control(form["cost"])
    assert 'aria-describedby="id_cost_hint id_cost_error"' in html
    assert 'aria-invalid="true"' in html
    assert 'class="input"' in html


@pytest.mark.parametrize(
    ("name", "letters"), [("Ada Lindqvist", "AL"), ("ben", "BE"), ("王小明", "王小"), ("", "")]
)
def test_initials(name: str, letters: str) -> None:
    assert ui.initials(name) == letters


def test_a_digest_is_cut_into_groups_whatever_form_it_comes_in() -> None:
    assert ui.groups("9f3c71ab22e05d18ffff", 2) == "9f3c 71ab"
    assert ui.groups(bytes.fromhex("9f3c71ab"), 2) == "9f3c 71ab"
    assert ui.groups(None) == ""


def test_a_letter_shows_every_receiver_and_hidden_signs() -> None:
    mail = {
        "sender": "a@x.example",
        "to": ["b@x.example"],
        "bcc": ["h\u200bidden@x.example"],
        "subject": "S",
        "body": "One\n\nTwo",
    }
    html = _render('{% include "components/letter.html" with mail=mail only %}', mail=mail)
    assert "U+200B" in html
    assert html.count("<p>") == 2
