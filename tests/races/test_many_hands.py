"""Many hands at one run: cancel, decide, commit, renew, reap, resume. Real threads, real PostgreSQL; one end, nothing lost."""

from __future__ import annotations

import contextlib
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connections

from approvals.decide import decide
from approvals.errors import DeskError
from approvals.models import Decision, PendingAction
from runs import timeline
from runs.engine.cancel import cancel
from runs.engine.claim import claim
from runs.engine.reclaim import reclaim
from runs.engine.renew import renew
from runs.engine.resume import resume, resume_decided
from runs.engine.types import Claimed, Outcome, Plan
from runs.errors import AlreadyEnded
from runs.models import Event, Run, Step, TenantTerms
from tests.make import runs as make
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tests.runs.engine.test_joins import call, planned
from tests.runs.node import real
from tools.models import WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)

FINISH = [{"do": "finish", "result": {}}]


@pytest.fixture
def house() -> make.House:
    return make.house()


def together(*works: Callable[[], Any]) -> list[Any]:
    """Runs them at the same moment, each in a thread with connections of its own; gives what each returned."""
    gate = threading.Barrier(len(works))

    def one(work: Callable[[], Any]) -> Any:
        try:
            gate.wait(30)
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as pool:
        asked: list[Future[Any]] = [pool.submit(one, work) for work in works]
        return [future.result(200) for future in asked]


def take_all(by: WorkerProcess) -> list[Claimed]:
    found: list[Claimed] = []
    while more := claim(worker_id=by.pk, room={"io": 500, "thread": 500, "cpu": 100}, sent=0.0):
        found += more
    return found


def at_their_last_step(house: make.House, count: int) -> list[Claimed]:
    """So many runs, each with its last step under way."""
    for _ in range(count):
        hands.counter_run(house.tenant, house.ada, steps=1)
    hands.put(house.me, *[hands.done(one) for one in take_all(house.me)])
    found = take_all(house.me)
    # Nobody renews them here, and a busy machine takes its time.
    Step.everywhere.filter(status="RUNNING").update(lease_until="2100-01-01T00:00:00Z")
    return found


@pytest.mark.slow
def test_b15_of_a_cancel_and_the_completion_one_ends_the_run_and_both_hear_which(house):
    """Guards `cancel` and `commit`: the run is locked before its state is read, 500 times at the same moment. Exactly one
    terminal state, and the answer to the cancel tells which."""
    last = at_their_last_step(house, 500)
    assert len(last) == 500

    def cancels() -> list[str]:
        said = []
        for one in last:
            gate.wait(60)
            try:
                cancel(run_id=one.run_id, user_id=house.ada.pk)
                said.append("CANCELLED")
            except AlreadyEnded as ended:
                said.append(ended.status)
        return said

    def commits() -> None:
        for one in last:
            outcome = Outcome(one, "succeeded", {"ok": 1}, plan=Plan(one.version, FINISH))
            gate.wait(60)
            assert not hands.put(house.me, outcome).refused

    gate = threading.Barrier(2)
    said, _ = together(cancels, commits)
    ended = dict(Run.everywhere.values_list("pk", "status"))
    assert [ended[one.run_id] for one in last] == said
    assert set(said) <= {"CANCELLED", "SUCCEEDED"}
    ends = Event.everywhere.filter(type__in=["run.succeeded", "run.cancelled", "run.failed"])
    assert Counter(ends.values_list("run_id", flat=True)) == Counter(one.run_id for one in last)
    assert Step.everywhere.filter(kind="call").exclude(status="SUCCEEDED").count() == 0


def waiting_and_working(house: make.House) -> tuple[Run, Claimed]:
    """A letter waits for its approval beside a step that is under way."""
    run = planned(house, call("mail", "mail.send"), call("look"), steps=2, tool="mail.send")
    (look,) = hands.take(house.me)
    return run, look


def _cancelled(house: make.House, run: Run) -> str:
    return str(cancel(run_id=run.pk, user_id=house.ada.pk).status)


def _committed(house: make.House, look: Claimed) -> list[Outcome]:
    return hands.put(house.me, Outcome(look, "succeeded", {"ok": 1})).refused


def test_b28_a_cancel_and_a_decision_while_the_last_step_commits_are_applied_or_answered(house):
    """Guards `cancel`, `decide` and `resume`: of the three that come at once none vanishes, 30 times."""
    for _ in range(30):
        run, look = waiting_and_working(house)
        action = house.action(run)

        def decides(action: PendingAction = action) -> str:
            try:
                decide(
                    action_id=action.pk,
                    user_id=house.ben.pk,
                    verdict="approve",
                    digest=action.digest,
                    generation=action.generation,
                    channel="web",
                    authenticated="session",
                    fresh=True,
                    gesture=action.second_gesture,
                )
            except DeskError as refused:
                return type(refused).__name__
            return "decided"

        said = together(
            decides,
            partial(_cancelled, house, run),
            partial(_committed, house, look),
        )
        resume_decided()
        assert make.again(run).status == "CANCELLED"
        assert Step.everywhere.get(pk=look.step_id).status == "SUCCEEDED"
        assert said[1] in ("CANCEL_REQUESTED", "CANCELLED")
        assert said[2] == []
        action.refresh_from_db(from_queryset=PendingAction.everywhere.all())
        if said[0] == "decided":
            assert Decision.everywhere.filter(action=action).count() == 1
            assert action.status == "VOIDED"
            assert action.applied_at is not None
        else:
            assert (said[0], action.status) == ("AlreadyDecided", "WITHDRAWN")
        assert timeline.verify(run.pk) == []


@pytest.mark.slow
def test_b31_two_hundred_runs_under_all_hands_meet_no_deadlock_and_end(house):
    """Guards the lock order (run, step, action, intent): cancel, decide, renew, reap and commit at once, each in an order of
    its own. Nobody meets an error of the database, and every run that was cancelled ends."""
    pairs = [waiting_and_working(house) for _ in range(200)]
    leases = [(look.step_id, look.fence) for _, look in pairs]
    Step.everywhere.filter(pk__in=[step for step, _ in leases[::3]]).update(
        lease_until="2020-01-01T00:00:00Z"
    )
    stop = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        around = [pool.submit(renews, house, leases, stop), pool.submit(reaps, stop)]
        try:
            together(*[partial(work, house, pairs) for work in (cancels, decides, commits)])
        finally:
            stop.set()
        for one in around:
            one.result(60)
    reclaim()
    resume_decided()
    assert Counter(Run.everywhere.values_list("status", flat=True)) == {"CANCELLED": 200}
    assert not PendingAction.everywhere.filter(status="OPEN").exists()
    assert [timeline.verify(run.pk) for run, _ in pairs[:20]] == [[]] * 20


Pairs = list[tuple[Run, Claimed]]


def cancels(house: make.House, pairs: Pairs) -> None:
    for run, _ in random.Random(1).sample(pairs, len(pairs)):
        cancel(run_id=run.pk, user_id=house.ada.pk)


def decides(house: make.House, pairs: Pairs) -> None:
    for run, _ in random.Random(2).sample(pairs, len(pairs)):
        with contextlib.suppress(DeskError):
            house.answer(run, "approve")


def commits(house: make.House, pairs: Pairs) -> None:
    """Ten at a time, as a node does."""
    order = random.Random(3).sample(pairs, len(pairs))
    for start in range(0, len(order), 10):
        batch = order[start : start + 10]
        hands.put(house.me, *[Outcome(look, "succeeded", {"ok": 1}) for _, look in batch])


def renews(house: make.House, leases: list[tuple[Any, int]], stop: threading.Event) -> None:
    with psycopg.connect(real.database_url(), autocommit=True) as keeper:
        while not stop.wait(0.01):
            renew(keeper, worker_id=house.me.pk, leases=leases, seconds=30)


def reaps(stop: threading.Event) -> None:
    try:
        while not stop.wait(0.01):
            reclaim()
    finally:
        connections.close_all()


def test_b31_a_verb_that_postgresql_gave_up_is_done_again(house):
    """Guards `accounts.again`: somebody at a console locks in the wrong order; the cancel is the victim and comes through."""
    run, look = waiting_and_working(house)
    with psycopg.connect(real.database_url(), options="-c deadlock_timeout=60s") as console:
        console.execute("SELECT 1 FROM runs_step WHERE id = %s FOR UPDATE", [look.step_id])
        mail = Step.everywhere.get(run=run, key="mail")
        console.execute("SELECT 1 FROM runs_step WHERE id = %s FOR UPDATE", [mail.pk])

        def cancels() -> str:
            try:
                return str(cancel(run_id=run.pk, user_id=house.ada.pk).status)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(cancels)
            wait_until_blocked()
            console.execute("SELECT 1 FROM runs_run WHERE id = %s FOR UPDATE", [run.pk])
            console.rollback()
            assert asked.result(60) == "CANCEL_REQUESTED"
    assert Step.everywhere.get(pk=mail.pk).status == "CANCELLED"


def test_b45_three_that_see_the_same_decision_five_times_resume_it_one_time(house):
    """Guards `resume` and `claim_steps.sql`: wake-ups are doubled, late and out of order; one epoch, one lease."""
    run, look = waiting_and_working(house)
    action = house.action(run)
    decide(
        action_id=action.pk,
        user_id=house.ben.pk,
        verdict="approve",
        digest=action.digest,
        generation=action.generation,
        channel="web",
        authenticated="session",
        fresh=True,
        gesture=action.second_gesture,
    )
    workers = [hands.worker() for _ in range(3)]

    def wakes(by: WorkerProcess) -> tuple[int, list[Claimed]]:
        resumed, claimed = 0, []
        for _ in range(5):
            resumed += resume(action_id=action.pk)
            claimed += hands.take(by)
        return resumed, claimed

    found = together(*[lambda by=by: wakes(by) for by in workers])
    assert sum(resumed for resumed, _ in found) == 1
    taken = [one for _, claimed in found for one in claimed]
    assert [(one.key, one.epoch, one.attempt) for one in taken] == [("mail", 2, 1)]
    assert Event.everywhere.filter(run=run, type="step.resumed").count() == 1
    assert Step.everywhere.get(pk=look.step_id).attempt == 1


def test_b46_a_cancelled_run_ends_after_the_last_of_its_parallel_steps(house):
    """Guards `status._from_live`: three steps are under way and one waits; the run is CANCELLED when none of them lives."""
    run = planned(house, *[call(key) for key in "abc"], call("mail", "mail.send"), steps=4, tool="mail.send")
    three = hands.take(house.me)
    cancel(run_id=run.pk, user_id=house.ada.pk)
    assert Step.everywhere.get(run=run, key="mail").status == "CANCELLED"
    for left, one in enumerate(three):
        assert make.again(run).status == "CANCEL_REQUESTED", left
        hands.put(house.me, Outcome(one, "cancelled" if left else "succeeded", None))
    assert make.again(run).status == "CANCELLED"
    live = Step.everywhere.filter(run=run, finished_at__isnull=True)
    assert not live.exists()
    assert Event.everywhere.filter(run=run).latest("sequence").type == "run.cancelled"


def test_b34_what_is_under_way_is_counted_from_the_leases(house):
    """Guards `claim_steps.sql`: the quota of a tenant is counted from the leases that stand in the rows. A hundred workers
    die in the middle and the first release fails in the database; no place leaks."""
    TenantTerms.objects.create(tenant=house.tenant, lease_quota=100)
    for _ in range(110):
        hands.counter_run(house.tenant, house.ada, steps=1)
    running = Step.everywhere.filter(status="RUNNING")
    take_all(hands.worker())
    assert running.count() == 100
    running.update(lease_until="2020-01-01T00:00:00Z")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runs.engine.commit.derive", _broken)
        with contextlib.suppress(OperationalError):
            reclaim()
    assert running.count() == 100
    while reclaim():
        continue
    assert running.count() == 0
    assert len(take_all(house.me)) == 100


def _broken(runs: Any) -> None:
    raise OperationalError("the database went away")


def test_b28_a_decision_just_before_a_cancel_is_applied_and_its_grant_void(house):
    """Guards `cancel`: a decision whose bell has not rung yet does not vanish, and its grant does not outlive the run."""
    run, look = waiting_and_working(house)
    action = house.action(run)
    decide(
        action_id=action.pk,
        user_id=house.ben.pk,
        verdict="approve",
        digest=action.digest,
        generation=action.generation,
        channel="web",
        authenticated="session",
        fresh=True,
        gesture=action.second_gesture,
    )
    cancel(run_id=run.pk, user_id=house.ada.pk)
    resume_decided()
    after = house.action(run)
    assert (after.status, after.applied_at is not None) == ("VOIDED", True)
    hands.put(house.me, Outcome(look, "succeeded", {"ok": 1}))
    assert make.again(run).status == "CANCELLED"
