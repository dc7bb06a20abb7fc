"""What the submitter is told when a task has ended."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models.functions import Now

from accounts.ids import public
from accounts.letters import Letter
from accounts.models import Membership
from outbox import routes
from outbox.models import Message, Notification
from outbox.relay import drain
from runs.engine.cancel import cancel
from runs.models import Run
from runs.notes import ended as notes
from tests.make import runs as make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def about(run: Run) -> dict[str, Any]:
    return {"run_id": run.pk.hex, "status": run.status}


def letter(house: make.House, run: Run) -> Letter:
    found = notes.letter(about(run), house.ada)
    assert found is not None
    assert f"http://127.0.0.1:8000/tasks/{public('run', run.pk)}/" in found.text
    assert run.goal in found.text
    return found


def test_done_is_said_in_one_line(house: make.House) -> None:
    run = house.sent(house.reviewed())
    assert letter(house, run).subject == f"Done: {run.goal}"


def test_a_rejection_says_who_and_why(house: make.House) -> None:
    run = house.reviewed()
    house.answer(run, "reject", comment="The year is wrong.")
    house.finish()
    run = make.again(run)
    said = letter(house, run)
    assert said.subject == f"Rejected: {run.goal}"
    assert "Rejected by Ben" in said.text
    assert "The year is wrong." in said.text


def test_a_cancelled_task_says_by_whom(house: make.House) -> None:
    run = house.reviewed()
    cancel(run_id=run.pk, user_id=house.jonas.pk, reason="Not needed any more.", channel="web")
    run = make.again(run)
    said = letter(house, run)
    assert said.subject == f"Cancelled: {run.goal}"
    assert "by Jonas: Not needed any more. What was done stays." in said.text


def test_a_failed_task_says_why(house: make.House) -> None:
    run = house.submitted()
    failed = Run.everywhere.filter(pk=run.pk)
    failed.update(status="RUNNING")
    failed.update(
        status="FAILED", finished_at=Now(), failure={"code": "agent", "text": "No file could be read."}
    )
    said = letter(house, make.again(run))
    assert said.subject == f"Failed: {run.goal}"
    assert "Your task failed: No file could be read." in said.text
    assert ".." not in said.text


def test_only_the_submitter_is_told_and_only_while_a_member(house: make.House) -> None:
    run = house.submitted()
    assert notes.recipients(about(run)) == [house.ada]
    Membership.everywhere.filter(user=house.ada).update(disabled_at=Now())
    assert notes.recipients(about(run)) == []


def test_the_end_of_a_task_makes_a_note_through_the_outbox(house: make.House) -> None:
    """The wiring of config/routes.py: every topic that the engine appends has a route, and the writer fits."""
    run = house.sent(house.reviewed())
    assert {row.topic for row in Message.objects.all()} <= set(routes.topics())
    drain(limit=100)
    note = Notification.everywhere.get(kind="task_ended", channel="mail")
    assert (note.user_id, note.subject) == (house.ada.pk, f"Done: {run.goal}")
