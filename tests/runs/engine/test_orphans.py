"""Orphans (O6, B14): what nobody holds any more is found, looked after once, and told."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from accounts.ids import new_id
from accounts.models import AuditEntry
from outbox.models import Message
from runs import timeline
from runs.engine import orphans
from runs.engine.commit import commit as real_commit
from runs.engine.orphans import sweep
from runs.engine.types import Outcome, Plan
from runs.models import Run, Step, StepDependency
from tests.make import runs as make
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def quiet(run: Run, **ago: float) -> None:
    """As if nothing had happened for so long."""
    Run.everywhere.filter(pk=run.pk).update(
        last_event_at=F("last_event_at") - timedelta(**(ago or {"hours": 1}))
    )


def forgotten(house: make.House, goal: str = "Count") -> Run:
    """Between two steps with nothing that goes on: its next step was taken out of the table."""
    run = house.counted(3, goal=goal)
    for _ in range(2):
        claimed = [one for one in hands.take(house.me) if one.run_id == run.pk]
        hands.put(house.me, *[hands.done(one) for one in claimed])
    left = Step.everywhere.filter(run=run, status="PENDING")
    assert left.delete()[0] == 1
    return make.again(run)


def alerts(run: Run) -> list[str]:
    told = AuditEntry.everywhere.filter(run_id=run.pk, act="alert.raised").order_by("sequence")
    assert Message.objects.filter(topic="alert.raised", key=run.pk.hex).count() == len(told)
    return [entry.payload["code"] for entry in told]


def test_b14_a_worker_that_dies_between_two_steps_holds_up_nothing(house):
    """Guards runs/engine/commit.py: the next step is a row of the same commit, so another worker claims it."""
    run = house.counted(3)
    for _ in range(2):
        hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    hands.run_all(hands.worker())
    assert make.again(run).status == "SUCCEEDED"


def test_b14_a_run_that_nobody_holds_goes_on_with_an_alert(house):
    """Guards runs/engine/orphans.py `_look_after` and orphan_runs.sql: no holder, no timer, no waiter."""
    run = forgotten(house)
    assert hands.take(house.me) == []
    assert sweep() == 0, "not before the grace is over"
    quiet(run)
    assert sweep() == 1
    assert sweep() == 0
    hands.run_all(house.me)
    assert make.again(run).status == "SUCCEEDED"
    assert alerts(run) == ["orphan"]
    assert timeline.verify(run.pk) == []


def test_b14_two_sweeps_at_once_do_it_once(house):
    """Guards runs/engine/orphans.py `_adopt`: the finding is asked again under the lock of the run."""
    run = forgotten(house)
    quiet(run)
    gate, done = threading.Barrier(2), []

    def both() -> None:
        gate.wait(20)
        done.append(sweep())
        connection.close()

    threads = [threading.Thread(target=both) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(done) == [0, 1]
    assert alerts(run) == ["orphan"]
    assert Step.everywhere.filter(run=run, kind="plan", status="PENDING").count() == 1


def test_b14_a_second_sweep_that_looked_at_the_same_moment_does_nothing(house):
    """Guards runs/engine/orphans.py `_adopt`: what it saw before it had the lock does not count."""
    run = forgotten(house)
    quiet(run)
    assert orphans._adopt(run.pk)
    version = make.again(run).version
    assert not orphans._adopt(run.pk)
    assert make.again(run).version == version


def circle(house: make.House) -> Run:
    """Two steps, each of which waits for the other; no plan makes such a thing, but rows can be mended by hand."""
    run = house.counted(2)
    (claimed,) = hands.take(house.me)
    plan: list[dict[str, Any]] = [
        {"do": "call", "key": "a", "tool": "drill.noop"},
        {"do": "call", "key": "b", "tool": "drill.noop", "after": {"a": "succeeded"}},
    ]
    hands.put(house.me, Outcome(claimed, "succeeded", plan=Plan(claimed.version, plan)))
    first, second = Step.everywhere.filter(run=run, kind="call").order_by("seq")
    StepDependency.objects.create(step=first, needs=second, rule="succeeded")
    Step.everywhere.filter(pk=first.pk).update(held=True)
    return make.again(run)


def test_b14_steps_that_wait_for_each_other_are_handed_to_a_person(house):
    run = circle(house)
    quiet(run)
    assert sweep() == 1
    run = make.again(run)
    assert (run.status, run.takeover) == ("WAITING_APPROVAL", house.action(run, "take_over").pk)
    quiet(run, days=400)
    assert sweep() == 0, "now a person is waited for"
    assert alerts(run) == ["orphan"]
    house.answer(run, "fail", kind="take_over", comment="It can never end.")
    assert make.again(run).status == "FAILED"


def test_b14_a_cancelled_run_of_which_nothing_is_under_way_ends(house):
    run = circle(house)
    Run.everywhere.filter(pk=run.pk).update(
        status="CANCEL_REQUESTED", cancel_requested_at=Now(), cancel_requested_by=house.ada
    )
    quiet(run)
    assert sweep() == 1
    assert make.again(run).status == "CANCELLED"


@pytest.mark.parametrize("kind", ["approval", "unknown", "takeover", "decided", "timer", "queued"])
def test_what_is_waited_for_is_no_orphan_however_long(house, kind):
    """Guards orphan_runs.sql: waiting for a person, for a time or for a free worker is never stuck."""
    if kind == "approval":
        run = house.reviewed()
    elif kind == "unknown":
        run = house.lost(house.reviewed())
    elif kind == "takeover":
        run = circle(house)
        quiet(run)
        sweep()
    elif kind == "decided":
        run = house.lost(house.reviewed())
        house.answer(run, "not_happened", kind="settle", comment="Not in their books.")
        assert Step.everywhere.get(run=run, status="UNKNOWN")
    else:
        run = house.counted(2)
        hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
        later = timedelta(days=300 if kind == "timer" else 0)
        Step.everywhere.filter(run=run, status="PENDING").update(not_before=Now() + later)
    run = make.again(run)
    before = (run.status, run.version, alerts(run))
    quiet(run, days=400)
    assert sweep() == 0
    run = make.again(run)
    assert (run.status, run.version, alerts(run)) == before


def held(house: make.House) -> tuple[Run, Step, Any]:
    run = house.counted(2)
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    (claimed,) = hands.take(house.me)
    return run, Step.everywhere.get(pk=claimed.step_id), claimed


def test_o6_a_lease_beyond_the_longest_is_cut_and_its_healthy_owner_keeps_it(house):
    """Guards cut_lease.sql: it becomes as long as any other; whoever renews goes on, whoever is gone loses it."""
    run, step, claimed = held(house)
    Step.everywhere.filter(pk=step.pk).update(lease_until="2099-01-01T00:00:00Z")
    assert sweep() == 1
    left = Step.everywhere.annotate(left=F("lease_until") - Now()).get(pk=step.pk).left
    assert 0 < left.total_seconds() <= 10
    assert sweep() == 0
    assert alerts(run) == ["lease_too_long"]
    assert hands.put(house.me, hands.done(claimed)).refused == []


@pytest.mark.parametrize("why", ["expired", "overdue", "no_owner"])
def test_o6_a_lease_that_cannot_be_right_is_taken_back(house, why):
    """Guards strange_leases.sql: long over, kept beyond the limit of its step (O8), or of a worker that is not on
    record. It counts as a loss, and what the old owner still says is refused."""
    run, step, claimed = held(house)
    changes: dict[str, dict[str, Any]] = {
        "expired": {"lease_until": "2020-01-01T00:00:00Z"},
        "overdue": {"started_at": Now() - timedelta(seconds=60 + 61)},
        "no_owner": {"owner": new_id()},
    }
    Step.everywhere.filter(pk=step.pk).update(**changes[why])
    assert sweep() == 1
    step = Step.everywhere.get(pk=step.pk)
    assert (step.status, step.losses, step.owner_id) == ("PENDING", 1, None)
    assert alerts(run) == [f"lease_{why}"]
    assert hands.put(house.me, hands.done(claimed)).refused
    hands.run_all(hands.worker())
    assert make.again(run).status == "SUCCEEDED"


def test_b38_a_healthy_step_is_left_alone_three_times_the_grace(house, settings):
    """Guards strange_leases.sql and silent_runs.sql: age is not death while somebody renews."""
    from runs.engine.watchdog import watch

    run, step, _claimed = held(house)
    age = 3 * max(settings.COUNTERSIGN.silent_seconds, settings.COUNTERSIGN.orphan_grace_seconds)
    Step.everywhere.filter(pk=step.pk).update(
        started_at=Now() - timedelta(seconds=age),
        timeout_seconds=2 * int(age),
        lease_until=Now() + timedelta(seconds=8),
    )
    quiet(run, seconds=age)
    assert (sweep(), watch()) == (0, 0)
    assert Step.everywhere.get(pk=step.pk).fence == step.fence


def test_o6_one_bad_row_does_not_stop_the_others(house, monkeypatch):
    """Guards runs/engine/each.py: each row by itself, and the bad one is tried again."""
    bad, good = forgotten(house, "bad"), forgotten(house, "good")
    for run in (bad, good):
        quiet(run)
    real, broken = orphans._look_after, {bad.pk}

    def look_after(workspace: Any, run: Any) -> str:
        if run.id in broken:
            raise RuntimeError("a row that nobody can read")
        return real(workspace, run)

    monkeypatch.setattr(orphans, "_look_after", look_after)
    assert sweep() == 1
    assert (alerts(bad), alerts(good)) == ([], ["orphan"])
    broken.clear()
    assert sweep() == 1
    assert alerts(bad) == ["orphan"]


def test_o6_one_bad_step_does_not_stop_reclaim(house, monkeypatch):
    """Guards runs/engine/reclaim.py `give_back`: steps of other workers, and of the same, are taken back all the same."""
    from runs.engine import reclaim

    steps = [held(house)[1] for _ in range(3)]
    Step.everywhere.filter(pk=steps[2].pk).update(owner=hands.worker())
    Step.everywhere.filter(status="RUNNING").update(lease_until="2020-01-01T00:00:00Z")

    def commit(*, outcomes: Any, **rest: Any) -> Any:
        if any(outcome.claimed.step_id == steps[0].pk for outcome in outcomes):
            raise RuntimeError("a row that nobody can write")
        return real_commit(outcomes=outcomes, **rest)

    monkeypatch.setattr(reclaim, "commit", commit)
    assert reclaim.reclaim() == 2
    assert Step.everywhere.filter(pk__in=[step.pk for step in steps], status="RUNNING").get() == steps[0]


def test_the_administrator_sees_what_needs_attention(house, client):
    run = forgotten(house)
    quiet(run)
    sweep()
    client.force_login(house.jonas)
    html = client.get("/audit/").content.decode()
    assert "Needs attention" in html
    assert run.pk.hex in html
    client.force_login(house.ada)
    assert client.get("/audit/").status_code == 403


def test_nothing_needs_attention_in_a_house_without_alerts(house, client):
    client.force_login(house.jonas)
    assert "Needs attention" not in client.get("/audit/").content.decode()
