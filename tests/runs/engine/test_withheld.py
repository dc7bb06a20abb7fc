"""Takeover rule ``known_gone``: a step stays with a worker that fell silent until it is known to be gone."""

from __future__ import annotations

import pytest
from django.db import transaction

from accounts.audit import ALERT
from accounts.models import AuditEntry, Role
from approvals.decide import decide
from approvals.models import PendingAction
from runs.engine import orphans, watchdog, withhold
from runs.engine.cancel import cancel
from runs.engine.commit import commit
from runs.engine.reclaim import reclaim, release, release_gone
from runs.engine.record import settle_down
from runs.engine.resume import resume_decided
from runs.engine.take_over import take_over
from runs.engine.types import Claimed, Outcome
from runs.engine.workspace import locked_one
from runs.models import Event, Run, Step
from runs.present import header
from tests.runs.engine import hands
from tests.runs.engine.limited import House, again, intent, step
from tests.tools import make
from tools import workers
from tools.attest import attest_gone
from tools.models import WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)

GONE = {"takeover_rule": "known_gone"}
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def house() -> House:
    return House()


def silent(house: House, tool: str = "drill.noop") -> tuple[Run, Claimed]:
    """A call whose worker fell silent: its lease ran out."""
    run = house.run(tool)
    (claimed,) = house.planned()
    Step.everywhere.filter(pk=claimed.step_id).update(lease_until=LONG_AGO)
    return run, claimed


def nobody_takes_it(run: Run) -> None:
    before = step(run)
    assert (reclaim(), orphans.sweep(), watchdog.watch()) == (0, 0, 0)
    assert hands.take(hands.worker()) == []
    after = step(run)
    assert (after.status, after.fence, after.losses) == ("RUNNING", before.fence, before.losses)


def test_l16_nobody_takes_it_from_a_silent_worker_and_it_says_so_once(house):
    house.read(**GONE)
    run, claimed = silent(house)
    nobody_takes_it(run)
    assert (withhold.tell(), withhold.tell()) == (1, 0)
    nobody_takes_it(run)
    text = "Its worker fell silent (test on here). Another one takes over when that one is known to be gone."
    assert step(run).waiting_on == text
    shown = again(run)
    assert (shown.status, shown.waiting_on) == ("WAITING_EXTERNAL", text)
    now = header.now(shown, [step(run)], [])
    assert now is not None
    assert now.text == text
    assert Event.everywhere.filter(run=run, type="step.withheld").count() == 1
    alerts = AuditEntry.everywhere.filter(run_id=run.pk, act=ALERT)
    assert [entry.payload["code"] for entry in alerts] == ["worker_silent"]
    assert claimed.fence == step(run).fence


def test_l16_an_administrator_frees_it_by_attesting(house):
    house.read(**GONE)
    run, _claimed = silent(house)
    withhold.tell()
    jonas = make.person(house.tenant, Role.ADMINISTRATOR, name="Jonas")
    WorkerProcess.objects.filter(pk=house.me.pk).update(last_seen_at=LONG_AGO)
    attest_gone(worker_id=house.me.pk, user_id=jonas.pk, reason="Its host was cut off.", channel="command")
    assert release_gone() == 1
    freed = step(run)
    assert (freed.status, freed.waiting_on, again(run).status) == ("PENDING", "", "RUNNING")
    other = hands.worker()
    hands.run_all(other)
    assert again(run).status == "SUCCEEDED"


@pytest.mark.parametrize("how", ["lock", "clean"])
def test_with_the_lock_released_it_goes_on_at_once(house, how):
    house.read(**GONE)
    run, _claimed = silent(house)
    workers.gone(worker_id=house.me.pk, how=how)
    assert release(worker_id=house.me.pk) == 1
    assert step(run).status == "PENDING"


@pytest.mark.parametrize("tool", ["drill.noop", "drill.effect"])
def test_a_reclaim_that_looked_too_early_takes_nothing(house, tool):
    """Guards the second look of runs/sql/finish_steps.sql and runs/engine/commit_guard.py: somebody found the step expired
    and asks to take it back."""
    (house.read if tool == "drill.noop" else house.effect)(tool, **GONE)
    run, claimed = silent(house, tool)
    lost = Outcome(claimed, "lost", error_code="worker_lost")
    commit(worker_id=house.me.pk, outcomes=[lost], room={}, sent=0.0, mode="expired")
    assert (step(run).status, step(run).losses) == ("RUNNING", 0)


def test_other_tools_are_taken_back_as_ever(house):
    house.read()
    run, _claimed = silent(house)
    assert reclaim() == 1
    assert step(run).status == "PENDING"


def test_the_worker_itself_frees_it_when_it_comes_back(house):
    """Guards runs/engine/withhold.py `stopped`: its result counts no more, but it says that it has stopped."""
    house.read(**GONE)
    run, claimed = silent(house)
    withhold.tell()
    late = hands.done(claimed, {"ok": True})
    refused = hands.put(house.me, late).refused
    assert refused == [late]
    assert withhold.stopped(worker_id=house.me.pk, outcomes=refused) == 1
    freed = step(run)
    assert (freed.status, freed.waiting_on, freed.output) == ("PENDING", "", None)
    hands.run_all(hands.worker())
    assert again(run).status == "SUCCEEDED"


def test_what_another_worker_or_an_older_claim_says_frees_nothing(house):
    house.read(**GONE)
    run, claimed = silent(house)
    late = hands.done(claimed, {"ok": True})
    assert withhold.stopped(worker_id=hands.worker().pk, outcomes=[late]) == 0
    Step.everywhere.filter(pk=claimed.step_id).update(fence=claimed.fence + 100)
    assert withhold.stopped(worker_id=house.me.pk, outcomes=[late]) == 0
    assert step(run).status == "RUNNING"


def test_an_effect_that_was_sent_is_asked_about_as_ever_and_waits_for_its_sender(house):
    """What a far side that knows keys would allow, this rule does not: the first sender must be gone."""
    house.effect(native_idempotency=True, **GONE)
    run, claimed = silent(house, "drill.effect")
    Step.everywhere.filter(pk=claimed.step_id).update(lease_until="2100-01-01T00:00:00Z")
    hands.asked(house.me, claimed)
    Step.everywhere.filter(pk=claimed.step_id).update(lease_until=LONG_AGO)
    assert withhold.tell() == 0
    assert reclaim() == 1
    assert step(run).status == "UNKNOWN"
    blocked = workers.may_go_on(intent=intent(run))
    assert blocked is not None
    assert blocked.code == "sender_not_gone"


def test_an_effect_that_was_not_sent_stays_with_its_worker(house):
    house.effect(**GONE)
    run, _claimed = silent(house, "drill.effect")
    nobody_takes_it(run)
    assert withhold.tell() == 1


def test_a_cancelled_task_waits_for_nobody(house):
    """Nobody would run the step again, so nothing is kept back."""
    house.read(**GONE)
    run, _claimed = silent(house)
    withhold.tell()
    cancel(run_id=run.pk, user_id=house.ada.pk)
    assert reclaim() == 1
    assert again(run).status == "CANCELLED"


@pytest.mark.parametrize(("verdict", "ends"), [("continue", "RUNNING"), ("fail", "FAILED")])
def test_a_takeover_takes_it_from_nobody_unless_the_task_ends(house, verdict, ends):
    """Guards runs/engine/revoke.py `_stays`."""
    house.read(**GONE)
    run = house.run("drill.noop")
    (claimed,) = house.planned()
    taken_over(run)
    action = PendingAction.everywhere.get(run_id=run.pk, kind="take_over", status="OPEN")
    decide(
        action_id=action.pk,
        user_id=house.ada.pk,
        verdict=verdict,
        digest=action.digest,
        generation=action.generation,
        channel="web",
        authenticated="session",
        fresh=True,
        comment="Go on.",
    )
    resume_decided()
    if verdict == "fail":
        assert again(run).status == ends
        return
    assert (step(run).status, step(run).fence) == ("RUNNING", claimed.fence)
    late = hands.done(claimed, {"ok": True})
    assert hands.put(house.me, late).refused == [late], "the run has a new epoch"
    assert withhold.stopped(worker_id=house.me.pk, outcomes=[late]) == 1
    assert step(run).status == "PENDING"


def test_a_lease_that_still_runs_is_no_business_of_this(house):
    house.read(**GONE)
    house.run("drill.noop")
    house.planned()
    assert withhold.tell() == 0


def test_what_its_own_worker_reports_in_time_counts(house):
    house.read(**GONE)
    run = house.run("drill.noop")
    (claimed,) = house.planned()
    assert claimed.spec["alone"] is True
    hands.put(house.me, Outcome(claimed, "lost", error_code="child_died"))
    assert step(run).status == "PENDING"
    hands.run_all(house.me)
    assert again(run).status == "SUCCEEDED"


def taken_over(run: Run) -> None:
    with transaction.atomic():
        workspace, locked = locked_one(run.pk)
        assert locked is not None
        take_over(locked, "silent", "Nothing has happened.")
        settle_down(workspace)
