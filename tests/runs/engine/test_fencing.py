"""Fences and epochs: only the newest execution of a step may begin, record, commit; what is older is kept aside and changes
nothing (L1, L6, L12)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F

from accounts.ids import new_id
from accounts.models import AuditEntry
from accounts.statements import statement
from approvals.models import PendingAction
from runs import timeline
from runs.engine import reclaim as reaper
from runs.engine.begin import begin
from runs.engine.cancel import cancel
from runs.engine.quarantine import quarantine
from runs.engine.reclaim import reclaim
from runs.engine.record import settle_down
from runs.engine.resume import resume_decided
from runs.engine.take_over import take_over
from runs.engine.types import Claimed, Outcome, Plan, Stop, Stored
from runs.engine.workspace import cursor, locked_one
from runs.errors import AlreadyEnded
from runs.models import Artifact, Event, Quarantined, Run, Step
from runs.selectors.late import quarantined, terminal_conflicts
from runs.states import RUN_PLANNABLE
from tests.make import runs as make
from tests.runs.engine import hands
from tests.runs.engine.test_effects import Story, answered
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

PAST = "2020-01-01T00:00:00Z"
NOT_OURS = ["fence", "epoch", "run epoch", "owner", "lease"]


@pytest.fixture
def house() -> make.House:
    return make.house()


@pytest.fixture
def story() -> Story:
    return Story()


def look(house: make.House, **given: Any) -> Claimed:
    """A claimed call that changes nothing in the world."""
    house.counted(**given)
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    (claimed,) = hands.take(house.me)
    return claimed


def take_away(claimed: Claimed, how: str) -> None:
    """Makes the execution an old one in one respect alone."""
    step, run = Step.everywhere.filter(pk=claimed.step_id), Run.everywhere.filter(pk=claimed.run_id)
    match how:
        case "fence":
            step.update(fence=F("fence") + 1)
        case "epoch":
            step.update(epoch=F("epoch") + 1)
        case "run epoch":
            run.update(epoch=F("epoch") + 1)
        case "owner":
            step.update(owner=hands.worker())
        case "lease":
            step.update(lease_until=PAST)


def rows(run_id: Any) -> tuple[Any, ...]:
    """Everything of a run that a late result could spoil."""
    steps = Step.everywhere.filter(run_id=run_id).order_by("pk")
    names = ("pk", "status", "fence", "epoch", "owner", "output", "failures", "losses", "error_code")
    run = Run.everywhere.get(pk=run_id)
    return run.version, run.status, run.epoch, run.event_seq, run.spent, tuple(steps.values_list(*names))


@pytest.mark.parametrize("how", NOT_OURS)
def test_a_commit_of_an_old_execution_changes_nothing(house, how):
    """Guards `finish_steps.sql`: fence, epoch, epoch of the run, owner and lease, each by itself."""
    claimed = look(house)
    take_away(claimed, how)
    before = rows(claimed.run_id)
    assert hands.put(house.me, hands.done(claimed, {"late": True})).refused
    assert rows(claimed.run_id) == before
    assert Quarantined.everywhere.get().output == {"late": True}


@pytest.mark.parametrize("how", NOT_OURS)
def test_an_old_execution_does_not_begin(story, how):
    """Guards `begin`: `commit_guard.holds` compares each of them before the effect may be sent (L7)."""
    story.decide("approve")
    claimed = story.claim()
    take_away(claimed, how)
    stopped = story.begin(claimed)
    assert isinstance(stopped, Stop)
    assert stopped.why == "lost"
    assert (story.intent.status, story.intent.dispatches) == ("AUTHORISED", 0)


@pytest.mark.parametrize("how", NOT_OURS)
def test_an_old_execution_records_no_failure(story, how):
    """Guards `record`: *it did not happen* is taken only from the execution that holds the step."""
    claimed, go = story.sent()
    take_away(claimed, how)
    before = rows(claimed.run_id)
    hands.put(story.me, answered(claimed, go, "failed", error_code="refused"))
    assert rows(claimed.run_id) == before
    assert story.intent.status == "UNKNOWN"


def test_what_a_sender_said_too_late_leaves_an_unknown_that_a_person_settles(story):
    """Guards `record._ours`: the intent is UNKNOWN before the sweep comes; the step is not given back, somebody is asked."""
    claimed, go = story.sent()
    take_away(claimed, "lease")
    hands.put(story.me, answered(claimed, go, "failed", error_code="refused"))
    assert (story.step.status, story.intent.status) == ("RUNNING", "UNKNOWN")
    assert reclaim() == 1
    assert (story.step.status, story.intent.status) == ("UNKNOWN", "UNKNOWN")
    assert story.action("settle").status == "OPEN"


def test_a_late_yes_from_an_older_epoch_is_the_truth_of_the_effect_and_moves_no_other_step(story):
    """Guards `record._late`: the intent is confirmed, and a step that somebody else works on is left alone."""
    claimed, go = story.sent()
    Step.everywhere.filter(pk=claimed.step_id).update(
        status="PENDING", owner=None, lease_until=None, epoch=F("epoch") + 1
    )
    hands.put(story.me, answered(claimed, go))
    assert story.intent.status == "CONFIRMED"
    assert story.step.status == "PENDING"
    stopped = story.begin(story.claim())
    assert isinstance(stopped, Stop)
    assert stopped.why == "answered"


# --- quarantine


def late(claimed: Claimed, output: Any = None, **changes: Any) -> Outcome:
    file = Stored("a" * 64, 3, "text/plain", "late.txt")
    outcome = Outcome(claimed, "succeeded", output or {"late": 1}, artifacts=[file])
    return dataclasses.replace(outcome, **changes)


def test_a_late_result_is_kept_once_however_often_it_comes(house):
    """Guards `quarantine.sql`: the first stays; a repeat adds no row, no file and no entry to the audit chain."""
    claimed = look(house)
    take_away(claimed, "fence")
    for output in ({"n": 1}, {"n": 2}, {"n": 1}):
        assert hands.put(house.me, late(claimed, output)).refused
    kept = Quarantined.everywhere.get(step_id=claimed.step_id)
    assert (kept.output, kept.fence, kept.terminal) == ({"n": 1}, claimed.fence, False)
    assert Artifact.everywhere.filter(quarantined=True).count() == 1
    assert AuditEntry.everywhere.filter(act="step.quarantined").count() == 1
    assert quarantined() == 1


def test_a_late_result_of_an_older_epoch_stays_beside_that_of_a_newer_one(house):
    """Guards `quarantine.sql`: results are told apart by their fence, so an older one cannot take the place of a newer."""
    old = look(house)
    take_away(old, "lease")
    assert reclaim() == 1
    (new,) = hands.take(house.me)
    take_away(new, "lease")
    hands.put(house.me, late(new, {"from": "new"}))
    hands.put(house.me, late(old, {"from": "old"}))
    hands.put(house.me, late(new, {"from": "nobody"}))
    found = Quarantined.everywhere.order_by("fence").values_list("fence", "output")
    assert list(found) == [(old.fence, {"from": "old"}), (new.fence, {"from": "new"})]


def test_what_was_committed_under_its_own_fence_is_not_late(house):
    """Guards `quarantine.sql`: the answer to our own commit got lost, the result is offered again."""
    claimed = look(house)
    outcome = hands.done(claimed, {"ok": 1})
    hands.put(house.me, outcome)
    assert hands.put(house.me, outcome).refused
    assert quarantine(worker_id=house.me.pk, outcomes=[outcome]) == 0
    assert not Quarantined.everywhere.exists()


# --- messages after the end


def test_a_result_after_the_end_is_kept_and_counted_and_revives_nothing(house):
    """S2. Guards `quarantine._record`: a result for a run that has ended is a terminal conflict."""
    claimed = look(house, steps=5)
    cancel(run_id=claimed.run_id, user_id=house.ada.pk)
    take_away(claimed, "lease")
    reclaim()
    assert Run.everywhere.get(pk=claimed.run_id).status == "CANCELLED"
    before = rows(claimed.run_id)
    hands.put(house.me, late(claimed))
    assert rows(claimed.run_id) == before
    assert Quarantined.everywhere.get().terminal
    assert terminal_conflicts() == 1


def test_a_cancel_after_the_end_is_refused_and_counted(house):
    """S2. Guards `cancel`: the answer says that it has ended, and the conflict is recorded."""
    run = house.counted(steps=1)
    house.finish()
    for _ in range(2):
        with pytest.raises(AlreadyEnded) as refused:
            cancel(run_id=run.pk, user_id=house.ada.pk)
        assert refused.value.status == "SUCCEEDED"
    assert terminal_conflicts() == 2
    assert Event.everywhere.filter(run=run).latest("sequence").type == "run.succeeded"


# --- reclaim


def expired() -> list[tuple[Any, ...]]:
    """What a sweep sees before it acts."""
    found = cursor()
    found.execute(statement("runs", "expired_steps"), {"limit": 10, "plannable": list(RUN_PLANNABLE)})
    return found.fetchall()


def test_b13_a_sweep_that_looked_too_early_takes_nothing_back(house):
    """Guards `reclaim`: the look and the write are apart, and the write compares owner, fence and expiry again. Between
    the two another sweep and another claim came by."""
    claimed = look(house)
    take_away(claimed, "lease")
    seen = expired()
    assert reclaim() == 1
    (again,) = hands.take(house.me)
    until = Step.everywhere.get(pk=claimed.step_id).lease_until
    # Even should the second lease have run out as well: what was seen is of the first.
    take_away(again, "lease")
    before = rows(claimed.run_id)
    reaper.give_back(seen, "expired")
    assert rows(claimed.run_id) == before
    assert again.fence > claimed.fence
    Step.everywhere.filter(pk=claimed.step_id).update(lease_until=until)
    hands.put(house.me, hands.done(again))
    house.finish()
    assert Run.everywhere.get(pk=claimed.run_id).status == "SUCCEEDED"


def test_b13_a_sweep_does_not_take_a_step_whose_lease_was_renewed(house):
    """Guards the mode `expired` of `finish_steps.sql`: the lease must have run out at the moment of the write."""
    claimed = look(house)
    until = Step.everywhere.get(pk=claimed.step_id).lease_until
    take_away(claimed, "lease")
    seen = expired()
    Step.everywhere.filter(pk=claimed.step_id).update(lease_until=until)
    reaper.give_back(seen, "expired")
    assert Step.everywhere.get(pk=claimed.step_id).owner_id == house.me.pk
    assert not hands.put(house.me, hands.done(claimed)).refused


def test_b29_two_sweeps_over_one_dead_lease_count_one_loss(house):
    """Guards the fence and the state in `finish_steps.sql`: the second sweep finds nothing that is still lost."""
    claimed = look(house)
    take_away(claimed, "lease")
    seen = expired()
    for _ in range(2):
        reaper.give_back(seen, "expired")
    step = Step.everywhere.get(pk=claimed.step_id)
    assert (step.status, step.losses, step.attempt) == ("PENDING", 1, 1)
    assert Event.everywhere.filter(run_id=claimed.run_id, type="step.lost").count() == 1


def test_a_step_whose_worker_dies_while_its_run_stops_ends_with_it(house):
    """Guards `finish_steps.sql`: in a run that stops nothing goes back, for nobody would claim it."""
    claimed = look(house, steps=5)
    cancel(run_id=claimed.run_id, user_id=house.ada.pk)
    assert Run.everywhere.get(pk=claimed.run_id).status == "CANCEL_REQUESTED"
    take_away(claimed, "lease")
    assert reclaim() == 1
    assert Step.everywhere.get(pk=claimed.step_id).status == "CANCELLED"
    assert Run.everywhere.get(pk=claimed.run_id).status == "CANCELLED"
    assert timeline.verify(claimed.run_id) == []


def test_an_unsent_effect_whose_worker_dies_while_its_run_stops_is_void(story):
    """Guards `record._back`: the same for an effect that was not begun."""
    story.decide("approve")
    claimed = story.claim()
    cancel(run_id=story.run_id, user_id=story.submitter.pk)
    take_away(claimed, "lease")
    assert reclaim() == 1
    assert (story.run.status, story.step.status, story.intent.status) == ("CANCELLED", "CANCELLED", "VOIDED")


# --- epochs


def test_a_resumed_wait_has_a_new_epoch_and_a_new_fence(story):
    """Guards `ending.resume_step`: both rise, before anybody claims it."""
    before = story.step
    story.decide("approve")
    after = story.step
    assert after.epoch == before.epoch + 1
    assert after.fence > before.fence
    assert story.claim().fence > after.fence


def stuck(house: make.House) -> tuple[Run, Claimed]:
    """One step is under way while the agent has said nonsense: a person is asked to take over."""
    run = house.counted(steps=2)
    two: list[dict[str, Any]] = [
        {"do": "call", "key": key, "tool": "drill.noop", "arguments": {}} for key in ("one", "two")
    ]
    (first,) = hands.take(house.me)
    hands.put(house.me, Outcome(first, "succeeded", None, plan=Plan(first.version, two)))
    one, other = hands.take(house.me)
    hands.put(
        house.me, Outcome(one, "succeeded", {"ok": 1}, plan=Plan(one.version, [], error="ValueError: no"))
    )
    return Run.everywhere.get(pk=run.pk), other


def test_a_takeover_revokes_who_still_works_and_raises_the_epoch(house):
    """Guards `revoke`: before a person's answer takes effect the running step loses its owner and gets a newer fence."""
    run, other = stuck(house)
    assert PendingAction.everywhere.get(run_id=run.pk).kind == "take_over"
    house.answer(run, "continue", kind="take_over")
    resume_decided()
    after = Run.everywhere.get(pk=run.pk)
    step = Step.everywhere.get(pk=other.step_id)
    assert after.epoch == run.epoch + 1
    assert (step.status, step.owner_id, step.epoch) == ("PENDING", None, other.epoch + 1)
    assert step.fence > other.fence
    before = rows(run.pk)
    assert hands.put(house.me, hands.done(other, {"late": 1})).refused
    assert rows(run.pk) == before
    assert Quarantined.everywhere.get().run_epoch == run.epoch
    house.finish()
    assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"
    assert timeline.verify(run.pk) == []


def test_while_a_person_is_asked_to_take_over_the_agent_is_not(house):
    """Guards `Locked.plans`: the other step may end, but nothing is planned behind the person's back."""
    run, other = stuck(house)
    more = [{"do": "finish", "result": {}}]
    assert not hands.put(house.me, Outcome(other, "succeeded", {}, plan=Plan(other.version, more))).refused
    assert hands.take(house.me) == []
    assert Run.everywhere.get(pk=run.pk).status == "WAITING_APPROVAL"
    house.answer(run, "continue", kind="take_over")
    resume_decided()
    house.finish()
    assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"
    assert not PendingAction.everywhere.filter(run_id=run.pk, status="OPEN").exists()


def test_a_run_that_a_person_ends_waits_for_what_is_under_way(story):
    """Guards `taken_over._fail`: an effect that may have been sent is settled first; then the run fails."""
    claimed, go = story.sent()
    with transaction.atomic():
        workspace, run = locked_one(story.run_id)
        assert run is not None
        take_over(run, "agent_raised", "The agent could not plan the next step.")
        settle_down(workspace)
    story.decide("fail", kind="take_over", comment="Enough.")
    assert (story.run.status, story.step.status, story.intent.status) == (
        "WAITING_APPROVAL",
        "UNKNOWN",
        "UNKNOWN",
    )
    assert story.run.finished_at is None
    hands.put(story.me, answered(claimed, go))
    assert (story.step.status, story.intent.status) == ("SUCCEEDED", "CONFIRMED")
    assert story.run.status == "FAILED"
    assert story.run.failure["text"] == "Enough."
    assert not PendingAction.everywhere.filter(run_id=story.run_id, status="OPEN").exists()
    assert timeline.verify(story.run_id) == []


def test_a_dispatch_of_an_older_fence_is_refused_by_the_intent_itself(story):
    """Guards `tools.intents.dispatch`: whatever begin believes, a fence that is not newer than the last sends nothing."""
    story.decide("approve")
    claimed = story.claim()
    Intent.everywhere.filter(pk=story.intent.pk).update(fence=claimed.fence + 5)
    with pytest.raises(Exception, match="newer fence"):
        begin(claimed=claimed, worker_id=story.me.pk, sender=new_id(), pid=7)
    assert story.intent.dispatches == 0
