"""The watchdog (S13): silence and loops are handed to a person; whoever works, waits or is waited for is left alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from runs import timeline
from runs.agents.drill import Counter
from runs.engine import watchdog
from runs.engine.types import Claimed, Outcome
from runs.engine.watchdog import watch
from runs.models import Event, Run, Step
from tests.make import runs as make
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> make.House:
    """A house whose counter may repeat itself no more than any agent: ten equal calls among twenty are a loop."""
    monkeypatch.setattr(Counter, "may_repeat", 0)
    return make.house()


def go(house: make.House, run: Run, steps: int, says: Any = lambda number: {"ok": True}) -> None:
    """So many more steps of the run; ``says`` gives what the tool answers at each."""
    for _ in range(2 * steps):
        if Run.everywhere.get(pk=run.pk).steps_ended >= steps:
            return
        hands.put(house.me, *[_done(one, says) for one in hands.take(house.me)])


def _done(claimed: Claimed, says: Any) -> Outcome:
    number = int(claimed.key.rpartition("/")[2])
    return hands.done(claimed, says(number))


def code(run: Run) -> str:
    return str(Event.everywhere.filter(run=run, type="run.taken_over").latest("sequence").payload["code"])


def test_s13_the_same_call_with_the_same_answer_ten_times_is_a_loop(house):
    """Guards looping_runs.sql: tool, arguments and result compared in the database."""
    run = house.counted(50)
    go(house, run, 9)
    assert watch() == 0
    go(house, run, 10)
    assert watch() == 1
    assert watch() == 0, "once"
    assert make.again(run).takeover is not None
    assert code(run) == "loop"
    assert "drill.noop" in house.action(run, "take_over").sentence
    assert "10 times" in house.action(run, "take_over").sentence
    assert hands.take(house.me) == []
    assert timeline.verify(run.pk) == []


@pytest.mark.parametrize(
    ("says", "found"),
    [
        (lambda number: {"answer": number % 2}, 1),
        (lambda number: {"answer": number % 3}, 0),
        (lambda number: {"answer": number}, 0),
    ],
    ids=["two answers in turn", "three in turn", "always another"],
)
def test_s13_a_loop_may_have_two_halves_and_progress_is_none(house, says, found):
    run = house.counted(50)
    go(house, run, 30, says)
    assert watch() == found
    assert (make.again(run).takeover is not None) == bool(found)


def test_s13_after_a_person_said_go_on_it_is_counted_anew(house):
    """Guards looping_runs.sql: what ended before the answer is not held against the run again."""
    run = house.counted(50)
    go(house, run, 10)
    assert watch() == 1
    house.answer(run, "continue", kind="take_over")
    go(house, run, 19)
    assert watch() == 0
    go(house, run, 20)
    assert watch() == 1


def test_s13_an_agent_may_say_that_it_repeats_itself(house, monkeypatch):
    monkeypatch.setattr(Counter, "may_repeat", 200_000)
    run = house.counted(50)
    go(house, run, 30)
    assert watch() == 0


def silent(run: Run, **ago: float) -> None:
    Run.everywhere.filter(pk=run.pk).update(
        last_event_at=F("last_event_at") - timedelta(**(ago or {"hours": 1}))
    )


def stuck(house: make.House) -> Run:
    """RUNNING by its row, and nothing of it can move."""
    run = house.counted(3)
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    Step.everywhere.filter(run=run, status="PENDING").update(held=True)
    return make.again(run)


def test_s13_a_run_that_fell_silent_is_handed_over(house):
    """Guards silent_runs.sql: RUNNING, no event for long, and nothing under way."""
    run = stuck(house)
    assert watch() == 0
    silent(run)
    assert watch() == 1
    assert (make.again(run).status, code(run)) == ("WAITING_APPROVAL", "silent")
    silent(run, days=400)
    assert watch() == 0, "a person is waited for"


@pytest.mark.parametrize("what", ["queued", "asked", "running"])
def test_s13_whoever_works_or_waits_is_left_alone(house, what):
    """Guards silent_runs.sql: a free worker, a person, or the end of a long call that is renewed may be waited for."""
    if what == "asked":
        run = house.reviewed()
    else:
        run = house.counted(3)
        hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
        _ = hands.take(house.me) if what == "running" else None
    silent(run, days=400)
    assert watch() == 0


def test_s13_one_bad_run_does_not_stop_the_others(house, monkeypatch):
    """Guards runs/engine/watchdog.py `watch`: each run by itself."""
    bad, good = stuck(house), stuck(house)
    for run in (bad, good):
        silent(run)
    real = watchdog._finding

    def finding(name: str, row: Any) -> Any:
        if row[0] == bad.pk:
            raise RuntimeError("a row that nobody can read")
        return real(name, row)

    monkeypatch.setattr(watchdog, "_finding", finding)
    assert watch() == 1
    assert make.again(bad).takeover is None
    assert make.again(good).takeover is not None
