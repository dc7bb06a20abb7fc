"""Hosts whose clocks are wrong: only the clock of PostgreSQL decides about stored times."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Role
from approvals.models import PendingAction
from runs.engine.expire import expire_due
from runs.engine.reclaim import reclaim
from runs.engine.renew import renew
from runs.models import Step
from runs.node import clock
from runs.node.keeper import connect
from tests.runs.engine import hands
from tests.tools import make
from tools import samples

pytestmark = pytest.mark.django_db(transaction=True)

TEN_MINUTES = 600


@pytest.fixture
def house() -> Any:
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER, name="Ada")
    samples.seed(tenant)
    return tenant, user


@pytest.fixture
def wrong_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the wall clock of this host wrong, in every way in which Python reads it."""
    real_time, real_now = time.time, timezone.now

    def set_wrong(seconds: int) -> None:
        monkeypatch.setattr(time, "time", lambda: real_time() + seconds)
        monkeypatch.setattr(timezone, "now", lambda: real_now() + dt.timedelta(seconds=seconds))

    return set_wrong


def seconds_left(step_id: Any) -> float:
    """Of the lease, by the clock of the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM lease_until - clock_timestamp()) FROM runs_step WHERE id = %s",
            [step_id],
        )
        return float(cursor.fetchone()[0])


WRONG = pytest.mark.parametrize("seconds", [TEN_MINUTES, -TEN_MINUTES])


@WRONG
def test_b41_a_lease_is_as_long_as_it_should_be_whatever_the_host_thinks(house, wrong_by, seconds):
    """Guards runs/sql/claim_steps.sql, renew_leases.sql and insert_steps.sql: `lease_until` comes from clock_timestamp()."""
    from django.conf import settings

    lease = settings.COUNTERSIGN.lease_seconds
    wrong_by(seconds)
    run = hands.counter_run(house[0], house[1], steps=3)
    me = hands.worker()
    (first,) = hands.take(me)
    assert 0 < seconds_left(first.step_id) <= lease
    with connect(3) as db:
        assert renew(db, worker_id=me.pk, leases=[(first.step_id, first.fence)], seconds=lease) == {
            first.step_id
        }
    assert 0 < seconds_left(first.step_id) <= lease
    committed = hands.put(me, hands.done(first), room={"io": 5})
    assert len(committed.next) == 1
    assert 0 < seconds_left(committed.next[0].step_id) <= lease
    hands.put(me, *[hands.done(one) for one in committed.next])
    hands.run_all(me)
    run.refresh_from_db(from_queryset=type(run).everywhere.all())
    assert run.status == "SUCCEEDED"


@WRONG
def test_b41_a_reaper_with_a_wrong_clock_takes_nothing_that_is_held(house, wrong_by, seconds):
    """Guards runs/sql/expired_steps.sql and finish_steps.sql: a lease ends by the clock of the database alone."""
    hands.counter_run(house[0], house[1], steps=1)
    me = hands.worker()
    (held,) = hands.take(me)
    wrong_by(seconds)
    assert reclaim() == 0
    assert Step.everywhere.get(pk=held.step_id).status == "RUNNING"
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_step SET lease_until = clock_timestamp() - interval '1 millisecond' WHERE id = %s",
            [held.step_id],
        )
    assert hands.put(me, hands.done(held)).refused, "its lease has ended, whatever the host thinks"
    assert reclaim() == 1
    assert Step.everywhere.get(pk=held.step_id).status == "PENDING"


@WRONG
def test_b41_a_question_ends_by_the_clock_of_the_database(house, wrong_by, seconds):
    """Guards runs/engine/expire.py and approvals/clock.py: neither asks the host."""
    wrong_by(seconds)
    mail = {"to": "legal@halden.example", "subject": "Notice", "text": "We do not renew."}
    hands.counter_run(house[0], house[1], steps=1, tool="mail.send", arguments=mail)
    hands.run_all(hands.worker())
    action = PendingAction.everywhere.get()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE approvals_pendingaction SET expires_at = clock_timestamp() + interval '60 seconds' WHERE id = %s",
            [action.pk],
        )
    assert expire_due() == 0
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE approvals_pendingaction SET expires_at = clock_timestamp() WHERE id = %s", [action.pk]
        )
    assert expire_due() == 1


def test_b41_a_step_of_the_wall_clock_moves_no_deadline_of_the_node(wrong_by):
    """Guards runs/node/clock.py: deadlines of a node run on the clock that counts from the start of the machine."""
    before = clock.boot()
    wrong_by(TEN_MINUTES)
    assert 0 <= clock.boot() - before < TEN_MINUTES / 2
