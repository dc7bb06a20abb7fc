"""Duties: one holder at a time, somebody else when it falls silent, and no duty that hangs on another."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connections
from django.db.models.functions import Now

from config.coordinator import Round
from config.duties import DUTIES, Duty
from outbox import duties
from outbox.models import Duty as Row

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_holds_it_until_silent() -> None:
    assert duties.hold("reclaim", 60, holder="a")
    assert not duties.hold("reclaim", 60, holder="b")
    assert duties.hold("reclaim", 60, holder="a")
    assert duties.hold("expire", 60, holder="b")
    Row.objects.filter(name="reclaim").update(held_until=Now() - timedelta(seconds=1))
    assert duties.hold("reclaim", 60, holder="b")
    assert not duties.hold("reclaim", 60, holder="a")


def test_of_many_at_once_one_is_elected() -> None:
    """Guards outbox/sql/hold_duty.sql."""
    won: list[bool] = []
    start = threading.Barrier(8)

    def run(holder: str) -> None:
        start.wait()
        won.append(duties.hold("reclaim", 60, holder=holder))
        connections.close_all()

    threads = [threading.Thread(target=run, args=(str(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert won.count(True) == 1


def test_only_the_holder_reports() -> None:
    duties.hold("reclaim", 60, holder="a")
    duties.report("reclaim", {"done": 3}, holder="b")
    assert Row.objects.get().last_run_at is None
    duties.report("reclaim", {"done": 3}, holder="a")
    assert Row.objects.get().last_result == {"done": 3}


def test_a_duty_of_somebody_else_is_left_alone() -> None:
    done: list[int] = []

    def note(what: int) -> int:
        done.append(what)
        return 1

    mine = Round(Duty("reclaim", 1.0, lambda: note(1)))
    mine.turn()
    assert done == [1]
    assert Row.objects.get().last_result["done"] == 1
    Row.objects.update(holder="somebody else", held_until=Now() + timedelta(minutes=1))
    mine.turn()
    assert done == [1]
    shared = Round(Duty("relay", 1.0, lambda: note(2), alone=False))
    shared.turn()
    assert done == [1, 2]


def test_a_duty_that_fails_pauses_longer_and_recovers() -> None:
    fail = [True]

    def work() -> int:
        if fail[0]:
            raise ConnectionError("database away")
        return 1

    one = Round(Duty("relay", 0.2, work, alone=False))
    pauses = [one.turn() for _ in range(8)]
    assert pauses == sorted(pauses)
    assert pauses[0] == 0.5
    assert pauses[-1] == 10.0
    fail[0] = False
    assert one.turn() == 0.2


def test_a_duty_that_hangs_stops_no_other() -> None:
    """Guards config/coordinator.py: one thread a duty."""
    go, seen = threading.Event(), threading.Event()

    def ring() -> int:
        seen.set()
        return 1

    stuck = Round(Duty("mail", 0.01, lambda: int(go.wait(20)), alone=False))
    lively = Round(Duty("relay", 0.01, ring, alone=False))
    stuck.start()
    lively.start()
    assert seen.wait(20)
    seen.clear()
    assert seen.wait(20), "it goes round again"
    for one in (stuck, lively):
        one.stop()
    go.set()
    for one in (stuck, lively):
        one.join(20)


def test_every_duty_can_be_done() -> None:
    """The names of the engine's functions are looked up late: a wrong one would fail only in the coordinator."""
    for duty in DUTIES:
        # Counting the history says in how many rounds it did so; of nothing that is one.
        assert duty.do() == (1 if duty.name == "tally" else 0), duty.name
