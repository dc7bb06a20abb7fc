"""Who is told that something waits for a decision, and what the letter says."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.utils import translation

from accounts.models import Membership, Role, User
from approvals import grants
from approvals.models import PendingAction
from approvals.notes import opened as notes
from approvals.reopen import reopen
from outbox import routes
from outbox.models import Notification
from outbox.relay import drain
from tests.make import approvals as make
from tools import previews
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def about(action: PendingAction) -> dict[str, Any]:
    return {"action_id": action.pk.hex, "run_id": action.run_id.hex}


def told(action: PendingAction) -> set[str]:
    return {user.name for user in notes.recipients(about(action))}


def test_every_approver_but_the_submitter_is_told(house: make.House) -> None:
    action = make.question(house)
    assert told(action) == {"Ben Okafor", "Mira Sandoval"}
    Membership.everywhere.filter(user=house.ada).update(roles=[Role.SUBMITTER, Role.APPROVER])
    assert told(action) == {"Ben Okafor", "Mira Sandoval"}
    Membership.everywhere.filter(user=house.mira).update(roles=[Role.SUBMITTER])
    assert told(action) == {"Ben Okafor"}


def test_an_assigned_question_goes_to_that_person(house: make.House) -> None:
    action = make.question(house)
    PendingAction.everywhere.filter(pk=action.pk).update(assignee=house.mira)
    assert told(action) == {"Mira Sandoval"}


def test_who_submitted_may_take_over(house: make.House) -> None:
    assert "Ada Lindqvist" in told(make.takeover(house))


def test_the_letter_says_what_would_happen_and_decides_nothing(house: make.House) -> None:
    action = make.question(house)
    letter = notes.letter(about(action), house.ben)
    assert letter is not None
    assert letter.to == house.ben.email
    assert letter.subject == f"To decide: {action.sentence}"
    for part in (
        action.sentence,
        "Ada Lindqvist",
        "This cannot be undone.",
        "Opening the page decides nothing.",
    ):
        assert part in letter.text
    assert f"http://127.0.0.1:8000/inbox/act_{action.pk.hex}/" in letter.text
    assert "UTC" in letter.text


def test_an_unknown_outcome_is_called_that(house: make.House) -> None:
    letter = notes.letter(about(make.settle(house)), house.ben)
    assert letter is not None
    assert letter.subject.startswith("Outcome unknown: ")


def test_a_question_that_was_answered_needs_no_letter(house: make.House) -> None:
    action = make.question(house)
    make.answer(action, house.ben, "reject")
    assert notes.letter(about(action), house.mira) is None
    assert notes.recipients(about(action)) == []


def test_what_is_asked_anew_says_why(house: make.House) -> None:
    first = make.question(house)
    make.answer(first, house.ben, "approve")
    with transaction.atomic():
        grants.void(action_id=first.pk, reason="The target changed.")
        intent = Intent.everywhere.get(pk=first.intent_id)
        second = reopen(
            action_id=first.pk,
            intent=intent,
            contract=house.contract,
            epoch=intent.epoch,
            preview=previews.render(contract=house.contract, arguments=intent.arguments, tenant=house.tenant),
            policy=make.POLICY,
        )
    letter = notes.letter(about(second), house.mira)
    assert letter is not None
    assert letter.subject.startswith("To decide again: ")
    assert "does not hold any more: The target changed. Here is" in letter.text


def test_times_are_those_of_the_reader(house: make.House) -> None:
    User.objects.filter(pk=house.ben.pk).update(time_zone="Asia/Tokyo")
    house.ben.refresh_from_db()
    letter = notes.letter(about(make.question(house)), house.ben)
    assert letter is not None
    assert "JST" in letter.text


def test_the_opening_of_a_question_makes_notes_through_the_outbox(house: make.House) -> None:
    """The wiring of config/routes.py: topic, payload and writer fit together."""
    assert {consumer.name for consumer in routes.route("action.opened")} == {
        "hints:runs",
        "hints:inboxes",
        "notes",
        "webhooks",
    }
    make.question(house)
    with translation.override("zh-hans"):
        drain(limit=100)
    rows = Notification.everywhere.filter(kind="waits_for_me", channel="mail")
    assert {row.user_id for row in rows} == {house.ben.pk, house.mira.pk}
    assert all(row.subject.startswith("To decide: ") for row in rows)
