"""Drills of the requirements that no other place tells whole: an approval that comes after hours, a wake-up that comes often."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from approvals.models import PendingAction
from runs import timeline
from runs.engine import orphans
from runs.engine.expire import expire_due
from runs.engine.reclaim import reclaim, release_gone
from runs.engine.resume import resume_decided
from runs.engine.types import Go
from runs.engine.watchdog import watch
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.runs.engine.test_effects import Story, answered, story

__all__ = ["story"]
pytestmark = pytest.mark.django_db(transaction=True)

HOURS = timedelta(hours=50)


def age(run_id: object, by: timedelta) -> None:
    """As much time has passed for this run, by the database's own clock."""
    Run.everywhere.filter(pk=run_id).update(
        created_at=F("created_at") - by,
        last_event_at=F("last_event_at") - by,
        waiting_since=F("waiting_since") - by,
    )
    Step.everywhere.filter(run_id=run_id).update(
        created_at=F("created_at") - by, not_before=F("not_before") - by, started_at=F("started_at") - by
    )
    # Its end is part of what was shown, and bound.
    PendingAction.everywhere.filter(run_id=run_id).update(opened_at=F("opened_at") - by)


def test_an_approval_after_fifty_hours_goes_on_where_the_run_stopped(story: Story) -> None:
    """Guards the sweeps: a run that waits for a person is nobody's to rescue, and its grant covers what was shown."""
    age(story.run_id, HOURS)
    before = (story.run.version, story.run.event_seq)
    for sweep in (reclaim, release_gone, orphans.sweep, watch, expire_due, resume_decided):
        sweep()
    assert (story.run.version, story.run.event_seq) == before
    assert story.step.owner_id is None
    claimed, go = story.sent()
    hands.put(story.me, answered(claimed, go))
    story.finish()
    assert story.run.status == "SUCCEEDED"
    assert story.intent.dispatches == 1
    assert timeline.verify(story.run_id) == []


def test_a_wake_up_that_comes_five_times_to_two_nodes_is_one_claim(story: Story) -> None:
    """Guards `resume` and `claim_steps.sql`: a message only wakes, the row decides who has the step (S4)."""
    story.decide("approve")
    other = hands.worker()
    assert [resume_decided() for _ in range(5)] == [0] * 5
    claimed = [one for _ in range(5) for node in (story.me, other) for one in hands.take(node)]
    assert len(claimed) == 1
    assert isinstance(story.begin(claimed[0]), Go)
    assert story.step.attempt == 1
