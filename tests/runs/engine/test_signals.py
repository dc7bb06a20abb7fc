"""Waits for signals and for time: nobody holds them, nothing is missed, nothing stays open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.models import AuditEntry, Role, Tenant, User
from approvals.models import PendingAction
from runs import timeline
from runs.engine.cancel import cancel
from runs.engine.signal import Received, signal
from runs.engine.timers import end_waits
from runs.errors import BadTask, NotFound
from runs.models import Run, Signal, Step
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tests.tools import make
from tools import samples

pytestmark = pytest.mark.django_db(transaction=True)
House = tuple[Tenant, User]
WAIT = {"do": "wait", "key": "paid", "signal": "paid", "seconds": 60}


@pytest.fixture
def house() -> House:
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER, name="Ada")
    samples.seed(tenant)
    return tenant, user


def parked(house: House, *rounds: list[dict[str, Any]]) -> Run:
    run = hands.script_run(*house, *(rounds or ([WAIT],)))
    hands.run_all(hands.worker())
    return again(run)


def again(run: Run) -> Run:
    found: Run = Run.everywhere.get(pk=run.pk)
    return found


def step(run: Run, key: str = "paid") -> Step:
    found: Step = Step.everywhere.get(run=run, key=key)
    return found


def send(run: Run, external_id: str = "bank-1", name: str = "paid", **more: Any) -> Received:
    given = {"tenant_id": run.tenant_id, "run_id": run.pk, "name": name, "external_id": external_id}
    return signal(**{**given, "payload": {"amount": 12}, **more})


def pass_by(run: Run) -> None:
    """The deadlines of its waits are over."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_step SET deadline = clock_timestamp() - interval '1 second' WHERE run_id = %s AND kind = 'wait'",
            [run.pk],
        )


def acts(run: Run) -> list[str]:
    rows = AuditEntry.everywhere.filter(run_id=run.pk, act__startswith="signal.")
    return list(rows.order_by("sequence").values_list("act", flat=True))


def test_a_wait_holds_no_worker_and_ends_with_its_signal(house: House) -> None:
    run = parked(house)
    assert (run.status, step(run).owner_id, step(run).lease_until) == ("WAITING_EXTERNAL", None, None)
    assert "paid" in run.waiting_on
    assert send(run) == "taken"
    hands.run_all(hands.worker())
    run = again(run)
    assert run.status == "SUCCEEDED"
    assert step(run).output == {"signal": "paid", "external_id": "bank-1", "payload": {"amount": 12}}
    assert Signal.everywhere.get(run=run).consumed_by_id == step(run).pk
    assert timeline.verify(run.pk) == []


def test_b24_a_signal_that_came_before_its_wait_is_taken_by_it(house: House) -> None:
    """Guards `runs/engine/park.py: wait_for`: what was kept is looked for in the transaction that parks."""
    call = {"do": "call", "key": "first", "tool": "drill.noop"}
    run, me = hands.script_run(*house, [call], [WAIT]), hands.worker()
    hands.put(me, *[hands.done(one) for one in hands.take(me)])
    assert send(run) == "kept"
    hands.run_all(me)
    assert again(run).status == "SUCCEEDED"
    assert (step(run).output or {})["external_id"] == "bank-1"


def test_b24_a_signal_between_the_look_and_the_park_waits_for_the_run(house: House) -> None:
    """Guards `runs/engine/signal.py: signal`: it takes the run's lock first, so that it comes before the look or after the
    park, and never between them."""
    call = {"do": "call", "key": "first", "tool": "drill.noop"}
    run, me = hands.script_run(*house, [call], [WAIT]), hands.worker()
    hands.put(me, *[hands.done(one) for one in hands.take(me)])
    (claimed,) = hands.take(me)
    received: list[str] = []

    def other() -> None:
        received.append(send(run))
        connection.close()

    thread = threading.Thread(target=other)

    def meanwhile(name: str) -> None:
        if name == "record.before_commit" and not thread.is_alive() and not received:
            thread.start()
            wait_until_blocked()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runs.engine.commit.fp", meanwhile)
        hands.put(me, hands.done(claimed))
    thread.join(30)
    assert received == ["taken"]
    hands.run_all(me)
    assert again(run).status == "SUCCEEDED"


def test_repeats_of_an_external_id_change_nothing(house: House) -> None:
    run = parked(house, [WAIT], [{**WAIT, "key": "again"}])
    assert send(run) == "taken"
    hands.run_all(hands.worker())
    assert send(run, payload={"amount": 99}) == "repeated"
    assert step(run, "again").status == "WAITING_EXTERNAL"
    assert send(run, "bank-2") == "taken"
    assert acts(run) == ["signal.taken", "signal.repeated", "signal.taken"]


def test_a_signal_for_another_name_or_another_tenant_wakes_nobody(house: House) -> None:
    run = parked(house)
    assert send(run, name="shipped") == "kept"
    with pytest.raises(NotFound):
        send(run, tenant_id=make.tenant("aldergate").pk)
    with pytest.raises(BadTask):
        send(run, external_id="")
    assert step(run).status == "WAITING_EXTERNAL"


def test_what_comes_too_late_stands_in_the_audit_log_alone(house: House) -> None:
    """L12: an ended run, and an epoch from before a takeover."""
    run = parked(house)
    Run.everywhere.filter(pk=run.pk).update(epoch=3)
    assert send(run, epoch=2) == "late"
    assert step(run).status == "WAITING_EXTERNAL"
    assert send(run, epoch=3) == "taken"
    hands.run_all(hands.worker())
    before = again(run).event_seq
    assert send(run, "bank-9") == "late"
    assert Signal.everywhere.filter(run=run).count() == 1
    assert again(run).event_seq == before
    assert acts(run) == ["signal.late", "signal.taken", "signal.late"]


def test_a_wait_that_times_out_is_an_ended_step_that_the_agent_hears_of(house: House) -> None:
    run = parked(house)
    assert end_waits() == 0
    pass_by(run)
    assert send(run) == "kept", "at its end a wait is over"
    assert end_waits() == 1
    assert (step(run).status, step(run).error_code) == ("FAILED", "timed_out")
    hands.run_all(hands.worker())
    assert (again(run).result or {})["last"] == {"paid": "FAILED"}


def test_a_timer_succeeds_when_its_time_is_over(house: House) -> None:
    run = parked(house, [{"do": "wait", "key": "paid", "seconds": 60}])
    pass_by(run)
    assert end_waits() == 1
    hands.run_all(hands.worker())
    assert (again(run).result or {})["last"] == {"paid": "SUCCEEDED"}


@pytest.mark.parametrize("first", ["signal", "time", "cancel"])
def test_b25_of_signal_time_and_cancel_one_ends_the_wait_and_none_stays_open(
    house: House, first: str
) -> None:
    """Guards `runs/engine/timers.py: _end`, `signal.py: _waiting` and `cancel.py`: each looks at the state under the lock."""
    question = {"do": "ask", "key": "ask", "question": "How much?", "schema": {}}
    run = parked(house, [WAIT, question])
    if first == "time":
        pass_by(run)
    ways: dict[str, Callable[[], Any]] = {
        "signal": lambda: send(run),
        "time": end_waits,
        "cancel": lambda: stop(run),
    }
    ways[first]()
    send(run, "bank-2")
    stop(run)
    hands.run_all(hands.worker())
    run = again(run)
    assert run.status == "CANCELLED"
    assert not Step.everywhere.filter(run=run, finished_at__isnull=True).exists()
    assert not PendingAction.everywhere.filter(run_id=run.pk, status="OPEN").exists()
    assert end_waits() == 0
    ends = {"signal": "SUCCEEDED", "time": "FAILED", "cancel": "CANCELLED"}
    assert step(run).status == ends[first]


def stop(run: Run) -> None:
    if again(run).status not in ("CANCELLED", "CANCEL_REQUESTED"):
        cancel(run_id=run.pk, user_id=run.submitter_id)
