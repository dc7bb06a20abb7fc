"""The cycle of a step: submit, claim, commit, plan, finish."""

from __future__ import annotations

import pytest

from accounts.models import Role
from approvals.models import PendingAction
from outbox.models import Message
from runs import timeline
from runs.engine.types import Outcome
from runs.models import Event, Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house():
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER, name="Ada")
    samples.seed(tenant)
    return tenant, user


def test_a_run_counts_to_its_end(house):
    run = hands.counter_run(house[0], house[1], steps=3)
    hands.run_all(hands.worker())
    run = Run.everywhere.get(pk=run.pk)
    assert run.status == "SUCCEEDED"
    assert run.steps_ended == 3
    assert run.finished_at is not None
    assert timeline.verify(run.pk) == []
    steps = Step.everywhere.filter(run=run).exclude(kind="plan")
    assert [s.status for s in steps] == ["SUCCEEDED"] * 3
    assert sorted(s.ended_seq for s in steps) == [1, 2, 3]
    assert Message.objects.filter(topic="run.finished").count() == 1


def test_the_next_step_goes_on_at_once_when_there_is_room(house):
    run = hands.counter_run(house[0], house[1], steps=4)
    me = hands.worker()
    claimed = hands.take(me)
    seen = 0
    while claimed:
        committed = hands.put(me, *[hands.done(one) for one in claimed], room={"io": 5})
        claimed = committed.next
        seen += 1
    assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"
    assert seen == 5
    assert timeline.verify(run.pk) == []


def test_many_runs_in_one_commit(house):
    runs = [hands.counter_run(house[0], house[1], steps=10) for _ in range(5)]
    hands.run_all(hands.worker())
    for run in runs:
        assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"
        assert timeline.verify(run.pk) == []
        assert list(
            Event.everywhere.filter(run=run).values_list("sequence", flat=True).order_by("sequence")
        ) == list(range(1, Event.everywhere.filter(run=run).count() + 1))


def test_an_outcome_of_an_old_fence_goes_to_quarantine(house):
    """L1: finish_steps.sql compares the fence."""
    run = hands.counter_run(house[0], house[1], steps=2)
    me, other = hands.worker(), hands.worker()
    hands.put(me, *[hands.done(one) for one in hands.take(me)])
    (old,) = hands.take(me)
    Step.everywhere.filter(pk=old.step_id).update(status="PENDING", owner=None, lease_until=None)
    (new,) = hands.take(other)
    assert new.fence > old.fence
    assert hands.put(me, hands.done(old)).refused
    assert Step.everywhere.get(pk=old.step_id).status == "RUNNING"
    hands.put(other, hands.done(new))
    hands.run_all(other)
    assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"


def test_the_end_of_a_run_is_its_last_event(house):
    """I3: take() writes the line of the step before the plan that it brought is applied."""
    run = hands.counter_run(house[0], house[1], steps=2)
    hands.run_all(hands.worker())
    assert Event.everywhere.filter(run=run).latest("sequence").type == "run.succeeded"


def test_an_agent_whose_planning_keeps_killing_its_worker_ends_in_a_takeover(house):
    """Guards take(): a failed plan step opens a takeover instead of another plan step."""
    run = hands.counter_run(house[0], house[1], steps=2)
    me = hands.worker()
    hands.run_all(me, lambda claimed: Outcome(claimed, "lost"), rounds=5)
    run = Run.everywhere.get(pk=run.pk)
    assert run.status == "WAITING_APPROVAL"
    assert PendingAction.everywhere.get(run_id=run.pk).kind == "take_over"
