"""`kill -9` of every process at every seam of the story: no run is lost, no mail is sent twice.

Killed before begin or after record, exactly one mail arrives and nobody is asked; in between it may be unknown, then a
person settles it and the run goes on. The event chain is gapless and verified each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from typing import TypeVar

import psutil
import pytest
from _pytest.mark import ParameterSet

from tests.crashes import checker
from tests.crashes.drill import Drill, until

T = TypeVar("T")
PROCESSES = ("node", "child", "coordinator", "web", "beat", "valkey", "postgres")
#: moment → the seam at which a process is stopped, and which kind of child is at work then. An empty seam: the moment is
#: seen from outside.
MOMENTS = {
    "upload": ("", "io"),
    "submit": ("run.created.after_commit", "io"),
    "claim": ("claim.after_commit", "io"),
    "commit": ("record.committed", "io"),
    "proposal": ("", "io"),
    "decision": ("decided.committed", "io"),
    "begin": ("begin.committed", "thread"),
    "send": ("send.after_bytes", "thread"),
    "record": ("record.committed", "thread"),
    "finish": ("", "io"),
}
KEYS = "SELECT key FROM tools_intent WHERE run_id = %s::uuid"
#: Moments at which what was sent may be unknown after a kill.
BETWEEN = ("begin", "send")


#: In every run of the tests: the effect under each process that has a hand in it, and of the rest each process and each moment
#: a few times. `make drills` kills every process at every moment.
ALWAYS = {("node", "begin"), ("node", "send"), ("child", "send"), ("node", "record"), ("postgres", "record")}


def _pairs() -> Iterator[ParameterSet]:
    for row, process in enumerate(PROCESSES):
        for column, moment in enumerate(MOMENTS):
            often = (process, moment) in ALWAYS or (3 * row + column) % 7 == 0
            yield pytest.param(
                process, moment, marks=() if often else pytest.mark.drills, id=f"{process}-{moment}"
            )


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("process", "moment"), list(_pairs()))
def test_nothing_is_lost_and_nothing_is_sent_twice(drill: Drill, process: str, moment: str) -> None:
    name = f"{process}{moment}".title()
    drill.all_up()
    task = _story_with_a_kill(drill, name, process, moment)
    settled = drill.finish(name, task)
    drill.all_up()
    assert drill.task(task)["status"] == "SUCCEEDED"
    assert drill.mails(name) == 1
    if moment not in BETWEEN:
        assert settled == []
    drill.manage("verify_runs", task)
    history = drill.ada.get(f"tasks/{task}/events/").json()["results"]
    assert [event["sequence"] for event in history] == list(range(1, len(history) + 1))
    assert [event["type"] for event in history].count("run.succeeded") == 1
    assert history[-1]["type"] == "run.succeeded"
    with drill.database() as database:
        found = checker.always(database, drill.counted(database))
        # In the story where a person says "it did not happen" of a mail that had been sent, a second one is by their word.
        ours = {row[0] for row in database.execute(KEYS, [task.removeprefix("run_")])}
        assert [one for one in found if one.invariant != "I4" or any(key in one.text for key in ours)] == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("answer", ["happened", "not_happened", "nobody_knows"])
def test_each_answer_to_an_unknown_outcome_leads_to_a_finished_run(drill: Drill, answer: str) -> None:
    name = f"Answer{answer.replace('_', '')}".title()
    drill.all_up()
    task = _story_with_a_kill(drill, name, "child", "send")
    row = until(lambda: drill.waiting(task, "settle"), what="nobody was asked")
    assert drill.mails(name) <= 1
    assert drill.task(task)["status"] == "WAITING_APPROVAL"
    assert row["kind"] == "settle"
    # Who says "it did not happen" while it still could is asked once more.
    assert set(drill.finish(name, task, answer=answer)) == {answer}
    assert drill.task(task)["status"] == "SUCCEEDED"
    drill.manage("verify_runs", task)


def _story_with_a_kill(drill: Drill, name: str, process: str, moment: str) -> str:
    """Tells the story up to the moment, kills there, and lets what was stopped go on."""
    seam, child = MOMENTS[moment]
    file = drill.upload(name)
    if moment == "upload":
        drill.kill(drill.victim(process, child=child))
    if moment == "submit":
        return _while_blocked(drill, process, child, seam, lambda: drill.submit(name, file))
    if moment in ("claim", "commit"):
        drill.arm(f"{seam}=stop@1")
    task = drill.submit(name, file)
    if moment in ("claim", "commit"):
        _kill_at(drill, process, child, seam)
    row = until(lambda: drill.waiting(task, "approve"), what="nothing was proposed")
    if moment == "proposal":
        drill.kill(drill.victim(process, child=child))
    if moment == "decision":
        _while_blocked(drill, process, child, seam, lambda: drill.decide(row["id"], {"verdict": "approve"}))
        return task
    if moment in ("begin", "send", "record"):
        drill.arm(f"{seam}=stop@1")
    drill.decide(row["id"], {"verdict": "approve"})
    if moment in ("begin", "send", "record"):
        _kill_at(drill, process, child, seam)
    if moment == "finish":
        until(lambda: drill.task(task)["status"] == "SUCCEEDED", what="it did not finish")
        drill.kill(drill.victim(process, child=child))
    return task


def _kill_at(drill: Drill, process: str, child: str, seam: str) -> None:
    at = drill.stopped(seam)
    drill.disarm()
    try:
        drill.kill(drill.victim(process, child=child))
    finally:
        drill.go_on(at)


def _while_blocked(drill: Drill, process: str, child: str, seam: str, act: Callable[[], T]) -> T:
    """The web process stops in the middle of this request; the robot's client sees what a client sees."""
    drill.arm(f"{seam}=stop@1")
    done: list[T] = []
    client = Thread(target=lambda: done.append(act()), daemon=True)
    client.start()
    _kill_at(drill, process, child, seam)
    client.join(90)
    assert done, "the request was never answered"
    return done[0]


def test_a_kill_that_hits_nothing_is_a_failure(drill: Drill) -> None:
    """Trust in the harness: the hand refuses a process that is dead already."""
    victim = drill.victim("beat")
    drill.kill(victim)
    with pytest.raises((AssertionError, psutil.NoSuchProcess)):
        drill.kill(victim)
    drill.all_up()
