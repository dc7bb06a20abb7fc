"""Cancel needs no worker, harms nobody, and is looked at before every effect (S10; B08, B09, B27, B32, B33)."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.ids import new_id
from accounts.models import Role
from approvals.models import PendingAction
from runs import timeline
from runs.engine.begin import begin
from runs.engine.cancel import cancel
from runs.engine.reclaim import reclaim, release
from runs.engine.submit import submit
from runs.engine.types import Claimed, Go, Outcome, Plan, Stop
from runs.errors import AlreadyEnded, KeyReused
from runs.models import Run, Step
from tests.make import people
from tests.make import runs as make
from tests.rest.client import Rest
from tests.runs.engine import hands
from tools import workers
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

EXPIRED = "2020-01-01T00:00:00Z"


@pytest.fixture
def house() -> make.House:
    return make.house()


def stop(house: make.House, run: Run) -> Run:
    return cancel(run_id=run.pk, user_id=house.ada.pk, reason="not wanted")


def ended(run: Run, status: str = "CANCELLED") -> None:
    """Ended so, with nothing of it left and its history whole."""
    assert make.again(run).status == status
    assert not Step.everywhere.filter(run=run, finished_at__isnull=True).exists()
    assert not PendingAction.everywhere.filter(run_id=run.pk, status="OPEN").exists()
    assert timeline.verify(run.pk) == []


def taken_back() -> None:
    """What the task did is undone, as its effects declare."""
    me = hands.worker()
    hands.run_all(me, lambda claimed: hands.sent(me, claimed))


def claimed_call(house: make.House, tool: str = "drill.noop") -> tuple[Run, Claimed]:
    run = house.counted(2, tool=tool)
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    (claimed,) = hands.take(house.me)
    return run, claimed


def test_b08_a_cancel_without_any_worker_holds_when_they_come(house):
    """Guards runs/engine/cancel.py and the states in claim_steps.sql: the wish is a row, not a message to a worker."""
    run = house.counted(2)
    stop(house, run)
    ended(run)
    assert hands.take(hands.worker()) == []
    assert not Step.everywhere.filter(run=run, attempt__gt=0).exists()


def test_b09_cancelling_what_has_ended_harms_nobody(house):
    """Guards runs/engine/cancel.py: 409 for each of 500 runs, and a run beside them goes on as if nothing were."""
    house.counted(1)
    hands.run_all(house.me)
    model = Run.everywhere.get()
    rows = [
        Run(
            tenant=house.tenant,
            agent=model.agent,
            agent_version=model.agent_version,
            agent_digest=model.agent_digest,
            submitter=house.ada,
            goal="Over",
            input_digest=model.input_digest,
            submit_key=new_id().hex,
            finished_at=model.finished_at,
            status="SUCCEEDED",
        )
        for _ in range(500)
    ]
    Run.everywhere.bulk_create(rows)
    before = {row.pk: row.version for row in Run.everywhere.filter(goal="Over")}
    other = house.counted(3)
    for row in rows:
        with pytest.raises(AlreadyEnded):
            stop(house, row)
    hands.run_all(house.me)
    assert make.again(other).status == "SUCCEEDED"
    assert {row.pk: row.version for row in Run.everywhere.filter(goal="Over")} == before
    rest = Rest(house.ada, house.tenant, "read", "submit")
    assert rest.post(f"tasks/run_{rows[0].pk.hex}/cancel/", {"reason": "late"}).status_code == 409


def test_b27_the_key_of_a_failed_task_still_names_that_task(house):
    """Guards runs/engine/submit.py `_first`: same key and same task give the same run, failed as it is; there is no new
    run without a new key, and another task under that key is refused."""
    given: dict[str, Any] = {
        "tenant_id": house.tenant.pk,
        "submitter_id": house.ada.pk,
        "agent": "drill-counter",
        "goal": "Count",
        "input": {"steps": 1},
    }
    first, created = submit(**given, submit_key="mine")
    assert created
    ends = [{"do": "fail", "code": "no_file", "text": "There is no file."}]
    (claimed,) = hands.take(house.me)
    hands.put(house.me, Outcome(claimed, "succeeded", plan=Plan(claimed.version, ends)))
    again, created = submit(**given, submit_key="mine")
    assert (again.pk, again.status, created) == (first.pk, "FAILED", False)
    assert hands.take(house.me) == []
    with pytest.raises(KeyReused):
        submit(**{**given, "goal": "Another"}, submit_key="mine")
    assert submit(**given, submit_key="yours")[0].pk != first.pk


@pytest.mark.parametrize("how", ["queued", "parked", "backing off", "held"])
def test_b32_what_no_worker_holds_is_cancelled_at_once(house, how):
    """Guards runs/engine/cancel.py `_request`: everything that has not started ends in that transaction."""
    if how == "parked":
        run = house.reviewed()
        assert run.status == "WAITING_APPROVAL"
    else:
        run = house.counted(2)
        hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
        kinds: dict[str, dict[str, Any]] = {
            "backing off": {"not_before": "2099-01-01T00:00:00Z"},
            "held": {"held": True},
        }
        changes = kinds.get(how)
        if changes:
            Step.everywhere.filter(run=run, status="PENDING").update(**changes)
    stop(house, run)
    ended(run)


def late(house: make.House, claimed: Claimed, how: str) -> None:
    """Its worker stands still until the lease is over, or is dead."""
    if how == "stopped":
        Step.everywhere.filter(pk=claimed.step_id).update(lease_until=EXPIRED)
        assert reclaim() == 1
    else:
        workers.gone(worker_id=house.me.pk, how="lock")
        assert release(worker_id=house.me.pk) == 1


@pytest.mark.parametrize("how", ["stopped", "dead"])
@pytest.mark.parametrize("tool", ["drill.noop", "drill.effect"])
def test_b32_what_a_lost_worker_held_is_cancelled_when_it_is_taken_back(house, how, tool):
    """Guards runs/engine/given_back.py and record.py `_give_back`: a step of a cancelled run never waits for a claim
    that cannot come."""
    run, claimed = claimed_call(house, tool)
    stop(house, run)
    assert make.again(run).status == "CANCEL_REQUESTED"
    late(house, claimed, how)
    ended(run)
    assert not Intent.everywhere.exclude(status="VOIDED").exists()
    assert hands.put(house.me, hands.done(claimed)).refused, "what comes later changes nothing"
    ended(run)


@pytest.mark.parametrize("how", ["stopped", "dead"])
def test_b32_what_was_being_sent_is_unknown_and_then_cancelled(house, how):
    """Guards runs/engine/record.py `lose`: while nobody knows, it is not CANCELLED; a person settles, then it is."""
    run, claimed = claimed_call(house, "drill.effect")
    assert isinstance(begin(claimed=claimed, worker_id=house.me.pk, sender=new_id(), pid=7), Go)
    stop(house, run)
    late(house, claimed, how)
    assert make.again(run).status == "CANCEL_REQUESTED"
    assert Intent.everywhere.get().status == "UNKNOWN"
    house.answer(run, "happened", kind="settle", reference="seen in the ledger")
    taken_back()
    ended(run)
    assert Step.everywhere.get(pk=claimed.step_id).status == "SUCCEEDED"


def test_b32_planning_that_is_lost_does_not_hold_up_a_cancel(house):
    """Guards runs/engine/given_back.py: plan steps too."""
    run = house.counted(2)
    (claimed,) = hands.take(house.me)
    stop(house, run)
    hands.put(house.me, Outcome(claimed, "lost"))
    ended(run)


@pytest.mark.parametrize("ending", ["drained", "failed", "timeout", "lost", "cancelled", "succeeded"])
def test_b32_however_a_running_step_ends_the_run_is_cancelled(house, ending):
    run, claimed = claimed_call(house)
    stop(house, run)
    hands.put(house.me, Outcome(claimed, ending, error_code="x"))
    ended(run)


def test_b33_between_two_effects_a_cancel_stops_the_second(house):
    """Guards runs/engine/begin.py: the state of the run is looked at in the transaction that dispatches."""
    run, first = claimed_call(house, "drill.effect")
    go = begin(claimed=first, worker_id=house.me.pk, sender=new_id(), pid=7)
    assert isinstance(go, Go)
    hands.put(house.me, Outcome(first, "succeeded", {}, dispatch_id=go.dispatch_id))
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    (second,) = hands.take(house.me)
    stop(house, run)
    said = begin(claimed=second, worker_id=house.me.pk, sender=new_id(), pid=7)
    assert isinstance(said, Stop)
    assert Intent.everywhere.get(step_id=second.step_id).dispatches == 0
    hands.put(house.me, Outcome(second, "lost"))
    taken_back()
    ended(run)
    assert Intent.everywhere.get(step_id=first.step_id).status == "COMPENSATED"


def test_a_stranger_cannot_tell_an_ended_task_from_none(house):
    """The 409 of B09 is for members: another tenant gets the 404 of a task that does not exist."""
    run = house.counted(1)
    otto = people.person(house.other, Role.SUBMITTER, name="Oda")
    rest = Rest(otto, house.other, "read", "submit")
    assert rest.post(f"tasks/run_{run.pk.hex}/cancel/").status_code == 404
