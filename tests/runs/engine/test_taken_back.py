"""An approval that is taken back: in time, nothing is sent and the question stands anew; too late, that is said."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now

from accounts.models import AuditEntry
from approvals import errors
from approvals.models import PendingAction
from approvals.take_back import take_back
from runs import timeline
from runs.engine.cancel import cancel
from runs.engine.resume import resume_decided
from runs.engine.types import Go, Stop
from tests.runs.engine import hands
from tests.runs.engine.test_effects import Story, answered
from tools.models import Tool

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def story() -> Story:
    return Story()


def taken_back(story: Story, action: PendingAction, **more: Any) -> None:
    take_back(action_id=action.pk, user_id=story.approver.pk, channel="web", **more)
    resume_decided()


def asked_anew(story: Story, first: PendingAction) -> PendingAction:
    second = story.action()
    assert (second.status, second.generation, second.successor_of_id) == ("OPEN", 2, first.pk)
    assert story.step.status == "WAITING_APPROVAL"
    assert story.run.status == "WAITING_APPROVAL"
    assert story.intent.status == "PROPOSED"
    assert hands.take(story.me) == []
    return second


def test_taken_back_before_a_worker_had_it(story):
    """Guards `runs/engine/resume.py: _taken_back`: the step that was free to go waits again."""
    first = story.action()
    story.decide("approve")
    assert story.step.status == "PENDING"
    taken_back(story, first, reason="Wrong address")
    second = asked_anew(story, first)
    assert second.digest != first.digest
    first.refresh_from_db(from_queryset=PendingAction.everywhere.all())
    assert (first.status, "Wrong address" in first.void_reason) == ("VOIDED", True)
    story.decide("approve")
    claimed = story.claim()
    go = story.begin(claimed)
    assert isinstance(go, Go)
    hands.put(story.me, answered(claimed, go))
    story.finish()
    assert story.run.status == "SUCCEEDED"
    assert timeline.verify(story.run_id) == []


def test_taken_back_under_the_hands_of_a_worker(story):
    """Guards `runs/engine/taken_back.py: ask_anew`: whoever held the step is refused at begin."""
    first = story.action()
    story.decide("approve")
    claimed = story.claim()
    taken_back(story, first)
    assert isinstance(story.begin(claimed), Stop)
    asked_anew(story, first)


def test_begin_asks_anew_when_it_comes_first(story):
    """Guards `runs/engine/begin.py: _decide`: the engine has not heard of it yet, and nothing is sent all the same."""
    first = story.action()
    story.decide("approve")
    claimed = story.claim()
    take_back(action_id=first.pk, user_id=story.approver.pk, channel="web")
    stop = story.begin(claimed)
    assert isinstance(stop, Stop)
    assert (stop.why, stop.code) == ("waiting", "asked_again")
    second = asked_anew(story, first)
    resume_decided()
    assert asked_anew(story, first).pk == second.pk


def test_too_late_is_said_and_kept(story):
    """Guards `approvals/take_back.py: take_back`: what was begun is not called off by a word."""
    story.sent()
    action = story.action()
    with pytest.raises(errors.TooLate):
        take_back(action_id=action.pk, user_id=story.approver.pk, channel="web")
    assert story.action().status == "CONSUMED"
    assert story.intent.status == "DISPATCHED"
    assert AuditEntry.everywhere.get(act="action.taken_back_too_late").actor == story.approver


def test_whoever_may_say_no_may_take_it_back_and_nobody_else(story):
    other = Story()
    story.decide("approve")
    with pytest.raises(errors.NotAllowed):
        take_back(action_id=story.action().pk, user_id=other.approver.pk, channel="web")
    assert story.action().status == "APPROVED"
    take_back(action_id=story.action().pk, user_id=story.submitter.pk, channel="web")
    assert story.action().status == "VOIDED"
    with pytest.raises(errors.NotGranted):
        take_back(action_id=story.action().pk, user_id=story.approver.pk, channel="web")


def test_a_signature_is_taken_back_while_the_others_have_not_signed(story):
    """Guards `approvals/take_back.py: take_back`: two must agree, and the first one thinks better of it."""
    first = story.action()
    PendingAction.everywhere.filter(pk=first.pk).update(policy={**first.policy, "quorum": 2})
    story.decide("approve")
    assert story.action().status == "OPEN"
    with pytest.raises(errors.NotGranted):
        take_back(action_id=first.pk, user_id=story.submitter.pk, channel="web")
    taken_back(story, first)
    asked_anew(story, first)
    first.refresh_from_db(from_queryset=PendingAction.everywhere.all())
    assert first.status == "WITHDRAWN"


def test_a_cancelled_task_asks_nothing_anew(story):
    story.decide("approve")
    first = story.action()
    take_back(action_id=first.pk, user_id=story.approver.pk, channel="web")
    cancel(run_id=story.run_id, user_id=story.submitter.pk)
    resume_decided()
    assert story.action().pk == first.pk
    story.finish()
    assert story.run.status == "CANCELLED"


def test_either_it_was_in_time_or_it_was_sent_never_both():
    """Guards the lock of `approvals/take_back.py` and of begin on the same row: real threads."""
    for _ in range(12):
        story = Story()
        story.decide("approve")
        claimed, action, gate = story.claim(), story.action(), threading.Barrier(2)
        said: dict[str, Any] = {}

        def back(story: Story = story, action: Any = action, gate: Any = gate, said: Any = said) -> None:
            gate.wait(10)
            try:
                take_back(action_id=action.pk, user_id=story.approver.pk, channel="web")
                said["back"] = "in time"
            except errors.TooLate:
                said["back"] = "too late"
            finally:
                connection.close()

        thread = threading.Thread(target=back)
        thread.start()
        gate.wait(10)
        answer = story.begin(claimed)
        thread.join(30)
        sent = isinstance(answer, Go)
        assert said["back"] == ("too late" if sent else "in time")
        assert story.intent.status == ("DISPATCHED" if sent else "PROPOSED")


def test_taken_back_while_its_tool_is_paused(story):
    """Guards `runs/engine/taken_back.py: ask_anew`: what a switch holds up waits for a person from then on."""
    first = story.action()
    story.decide("approve")
    Tool.everywhere.filter(tenant=story.tenant, name="mail.send").update(
        paused_at=Now(), paused_by=story.approver, paused_reason="test"
    )
    assert isinstance(story.begin(story.claim()), Stop)
    assert story.step.status == "WAITING_EXTERNAL"
    taken_back(story, first)
    asked_anew(story, first)
    Tool.everywhere.filter(tenant=story.tenant).update(paused_at=None, paused_by=None, paused_reason="")
    story.decide("approve")
    assert isinstance(story.begin(story.claim()), Go)
