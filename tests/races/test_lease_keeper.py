"""The keeper beside a slow, silent or missing server, and beside steps that only breathe."""

from __future__ import annotations

import functools
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError, connection
from django.db.models.functions import Now

from accounts.models import Role
from runs.engine.reclaim import reclaim
from runs.engine.types import Claimed
from runs.leases import Terms
from runs.models import LeaseMeasure, Step
from runs.node import engine_threads
from runs.node import keeper as keeping_module
from runs.node.board import Pending
from runs.node.children import Entry
from runs.node.clock import boot
from runs.node.engine_threads import Engine
from runs.node.hints import Hints
from runs.node.keeper import Keeper, Stuck, connect
from runs.node.origin import Watched
from tests.races import keeping
from tests.races.proxy import Proxy, proxied
from tests.runs.engine import hands
from tests.runs.node import real
from tests.tools import make
from tools import samples
from tools.models import WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)

TERMS = Terms(lease=10, tick=0.1, failures=3, clock_error=0.5, progress=60)


@pytest.fixture
def worker() -> WorkerProcess:
    return hands.worker()


@pytest.fixture
def claimed(worker: WorkerProcess) -> list[Claimed]:
    """One step under a lease of ten seconds, handed out just now."""
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER)
    samples.seed(tenant)
    hands.counter_run(tenant, user, steps=1)
    found = hands.take(worker)
    for step in found:
        step.sent, step.pool = boot(), "io"
    return found


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with proxied(real.database_url()) as found:
        yield found


def lease_left(step: Claimed) -> float:
    """By the database's clock."""
    with psycopg.connect(real.database_url()) as db:
        row = db.execute(
            "SELECT extract(epoch FROM lease_until - clock_timestamp()) FROM runs_step WHERE id = %s",
            [step.step_id],
        ).fetchone()
    assert row is not None
    return float(row[0])


def look_until(stop: threading.Event, keeper: Keeper) -> None:
    """What the pump does of its own accord."""
    while not stop.wait(0.02):
        keeper.board.leash.look()


def told_lost(keeper: Keeper) -> bool:
    return [why for *_, why in keeper.board.children[0].told("stop")] == ["lost"]  # type: ignore[attr-defined]


def test_b36_a_late_answer_prolongs_from_before_the_question(worker, claimed, proxy):
    """Guards `runs.node.keeper.Keeper._tick`: the answer took half a second, which is as much less for the child."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    entry = keeping.due_now(keeper)
    with psycopg.connect(proxy.url, autocommit=True) as db:
        proxy.only, proxy.delay = b"user", 0.5
        keeper._tick(db)
        answered = boot()
    assert entry.renewed <= answered - 0.5
    (until,) = [row[2] for row in keeper.board.children[0].told("lease")]  # type: ignore[attr-defined]
    assert until == entry.renewed + TERMS.lease - TERMS.clock_error
    left = lease_left(claimed[0])
    assert until - boot() <= left - TERMS.clock_error


def test_b36_a_renewal_that_outlasts_the_lease_does_not_keep_the_step_going(worker, claimed, proxy):
    """Guards `runs.node.pump.Pump._scan`: while the keeper waits for its answer, the local deadline passes and the step is
    stopped, before its lease ends."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    entry = keeping.due_now(keeper)
    entry.renewed = boot() - 9
    with psycopg.connect(proxy.url, autocommit=True) as db:
        proxy.only, proxy.delay = b"user", 3.0
        asking = threading.Thread(target=keeper._tick, args=[db])
        asking.start()
        while not entry.why and asking.is_alive():
            keeper.pump._scan()
            time.sleep(0.01)
        stopped_at = boot()
        proxy.delay = 0
        asking.join()
    assert told_lost(keeper)
    assert stopped_at < entry.renewed + TERMS.lease or stopped_at < claimed[0].sent + 1


def test_b35_a_step_stops_after_renewals_that_failed_in_a_row(worker, claimed, monkeypatch):
    """Guards `runs.node.keeper.Keeper._failed`: not at the first failure, and before the lease ends."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    entry, start = keeping.entry_of(keeper), claimed[0].sent
    for failure in range(1, TERMS.failures + 1):
        assert not entry.why
        now = entry.renew_at
        monkeypatch.setattr(keeping_module, "boot", lambda now=now: now)
        keeper._failed(psycopg.OperationalError("no answer"))
        assert entry.failed == failure
    assert entry.why == "lost"
    assert told_lost(keeper)
    assert start + TERMS.lease / 2 < now < TERMS.local_deadline(start)


def test_b23_a_node_that_cannot_renew_claims_nothing(worker, claimed):
    """Guards `runs.node.board.Board.deaf`: it would take back the very step that it has just lost, and lose it again."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    keeper.board.heard_at = boot() - TERMS.lease / 2
    with keeper.board.room() as room:
        assert room == {}
    keeper._answered()
    with keeper.board.room() as room:
        assert room == {"io": 99}


def test_l4_a_failure_that_is_followed_by_an_answer_counts_no_more(worker, claimed):
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    entry = keeping.due_now(keeper)
    keeper._failed(psycopg.OperationalError("no answer"))
    keeper._answered()
    with connect(3) as db:
        keeper._tick(db)
    assert (entry.failed, entry.why) == (0, "")
    assert lease_left(claimed[0]) > 9


def test_b40_a_server_that_says_nothing_is_left_in_time(worker, claimed, proxy):
    """Guards `runs.node.leash.Leash.look`: the connection is half open, no error ever comes."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    with psycopg.connect(proxy.url, autocommit=True) as db:
        assert proxy.swallow(b"user") == 1
        stop = threading.Event()
        looking = threading.Thread(target=look_until, args=[stop, keeper])
        looking.start()
        last = threading.Timer(8, proxy.cut)
        last.start()
        started = boot()
        try:
            with pytest.raises(psycopg.OperationalError), keeper.board.leash.hold(db, 0.5):
                keeper._tick(db)
        finally:
            stop.set()
            last.cancel()
            looking.join()
    assert boot() - started < 0.5 * 5


def test_b37_a_lease_is_not_renewed_beyond_every_limit_of_its_step(worker, claimed):
    """Guards `runs.node.keeper.Keeper._due`: its child was told to stop, nothing came of it, and it still breathes."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    entry = keeping.due_now(keeper)
    entry.why, entry.wall = "cancel", boot() - 3600
    assert keeper._due(boot()) == []
    entry.wall = boot()
    assert [found for _, found in keeper._due(boot())] == [entry]


def test_b37_a_tool_that_will_not_be_cancelled_still_has_a_time_limit(worker, claimed):
    """Guards `runs.node.pump.Pump._scan`: being asked to stop does not free a step of its limit."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS, kind="io")
    entry = keeping.entry_of(keeper)
    child = keeper.board.children[0]
    keeper.pump.stop(child, entry, "cancel")
    entry.wall = boot()
    keeper.pump._scan()
    assert entry.why == "timeout"


def test_b37_a_tool_that_reported_progress_and_fell_silent_is_ended(worker, claimed):
    """Guards `runs.node.pump.Pump._scan`: one that never reported any has its time limit alone."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    entry = keeping.entry_of(keeper)
    keeper.pump._scan()
    entry.progressed = boot() - TERMS.progress + 5
    keeper.pump._scan()
    assert entry.why == ""
    entry.progressed = boot() - TERMS.progress
    keeper.pump._scan()
    assert entry.why == "silent"
    ended = keeper.pump._outcome_of_dead(entry)
    assert (ended.ending, ended.error_code) == ("timeout", "no_progress")


def test_b37_a_node_whose_pump_stands_still_gives_up_its_leases(worker, claimed):
    """Guards `runs.node.keeper.Keeper._watch_pump`: the keeper is fine, but nobody looks after the children."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    keeper.board.pumped_at = boot() - 11
    with connect(3) as db, pytest.raises(Stuck):  # noqa: PT012 - the fifth look says so
        for _ in range(4):
            keeper._tick(db)
        assert keeper.stuck == 4
        keeper._tick(db)


def test_b38_a_step_that_renews_is_not_taken_however_long_it_runs(worker, claimed):
    """Guards `runs.node.keeper.Keeper._tick`: three leases long, with the sweep running all the while."""
    lease = 2.0
    Step.everywhere.filter(pk=claimed[0].step_id).update(lease_until=None, status="PENDING", owner=None)
    (step,) = hands.take(worker)
    step.sent, step.pool = boot(), "io"
    keeper = keeping.keeper(worker.pk, [step], Terms(lease=lease, tick=0.1, clock_error=0.2))
    with connect(3) as db:
        keeping.due_now(keeper)
        end = boot() + 3 * lease
        while boot() < end:
            keeper.board.pumped_at = boot()
            keeper._tick(db)
            keeper.pump._scan()
            assert reclaim() == 0
            time.sleep(0.05)
    now = Step.everywhere.get(pk=step.step_id)
    assert (now.status, now.owner_id, now.fence, now.losses) == ("RUNNING", worker.pk, step.fence, 0)
    assert not keeping.entry_of(keeper).why


def test_b02_a_node_that_drains_asks_for_nothing(worker, claimed):
    """Guards `runs.node.board.Board.room`: whatever is free."""
    board = keeping.keeper(worker.pk, claimed, TERMS).board
    with board.room() as room:
        assert room == {"io": 99}
    board.draining = True
    with board.room() as room:
        assert room == {}


def test_b07_what_may_have_been_sent_is_not_given_back_at_shutdown(worker, claimed):
    """Guards `runs.node.pump.Pump._outcome_of_dead`: its child is killed at the end of the grace, after it was told to go."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    keeper.board.draining = True
    entry = keeping.entry_of(keeper)
    keeper.pump.stop(keeper.board.children[0], entry, "drain")
    assert keeper.pump._outcome_of_dead(entry).ending == "drained"
    entry.dispatch_id = uuid.uuid4()
    assert keeper.pump._outcome_of_dead(entry).ending == "lost"


def test_b20_a_result_that_finds_no_database_is_kept(worker, claimed, monkeypatch, tmp_path):
    """Guards `runs.node.engine_threads.Engine._again`: nobody knows what was committed, so it is asked again later."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    engine = Engine(keeper.board, Hints(), Watched(tmp_path), poll=0.1)
    result = Pending(hands.done(claimed[0]))

    def away(**given: object) -> None:
        raise OperationalError("server closed the connection")

    with monkeypatch.context() as database:
        database.setattr(engine_threads, "commit", away)
        database.setattr(engine_threads, "not_recorded", away)
        engine._record([result])
    assert keeper.board.later == [result]
    engine._record(keeper.board.later)
    assert Step.everywhere.get(pk=claimed[0].step_id).status == "SUCCEEDED"


def newer(entry: Entry, last: float) -> bool:
    return entry.renewed > last


def test_b21_the_keeper_connects_again_and_leaves_nothing_behind(worker, claimed, proxy, monkeypatch):
    """Guards `runs.node.keeper.Keeper.run`: two restarts, and afterwards as many sessions as before."""
    monkeypatch.setattr(
        keeping_module, "connect", lambda patience: psycopg.connect(proxy.url, autocommit=True)
    )
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    entry = keeping.entry_of(keeper)
    thread = threading.Thread(target=keeper.run)
    thread.start()
    try:
        for restarts in range(3):
            if restarts:
                proxy.restart(0.3)
            last, entry.renew_at = entry.renewed, boot()
            real.until(functools.partial(newer, entry, last), seconds=9, what="a renewal")
            assert len(proxy.links) == 1
    finally:
        keeper.board.stopped = True
        thread.join(10)
    assert not thread.is_alive()
    assert not entry.why


def test_b23_a_lease_that_nobody_renews_changes_hands_once(worker, claimed):
    """Guards `runs/sql/expired_steps.sql`: by the database's clock, counted one time, and the next claim outranks the old."""
    (step,) = claimed
    assert reclaim() == 0
    Step.everywhere.filter(pk=step.step_id).update(lease_until=Now() - timedelta(seconds=1))
    assert (reclaim(), reclaim()) == (1, 0)
    (again,) = hands.take(hands.worker())
    assert (again.step_id, again.attempt, again.losses) == (step.step_id, 2, 1)
    assert again.fence > step.fence


def test_b39_ownership_outlives_every_session(worker, claimed):
    """Guards owner and fence in `runs/sql/finish_steps.sql`: no lock of a session says whose a step is. After a restart it
    is still its owner's; once another has claimed it, it is not."""
    (step,) = claimed
    with psycopg.connect(real.database_url(), autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connection.close()
    other = hands.worker()
    assert hands.take(other) == []
    Step.everywhere.filter(pk=step.step_id).update(lease_until=Now() - timedelta(seconds=1))
    reclaim()
    (again,) = hands.take(other)
    assert hands.put(worker, hands.done(step)).refused != []
    assert hands.put(other, hands.done(again)).refused == []


def test_l5_what_renewals_took_is_kept(worker, claimed):
    """Guards `runs.node.measures.Measures`: the advice reads what the keeper measured."""
    keeper = keeping.keeper(worker.pk, claimed, TERMS)
    keeping.due_now(keeper)
    with connect(3) as db:
        keeper._tick(db)
        keeper._failed(psycopg.OperationalError("no answer"))
        keeper.measures.flush(db, now=True)
        keeper.measures.note("pause", 0.02)
        keeper.measures.flush(db, now=True)
    rows = LeaseMeasure.objects.filter(worker=worker).values_list("what", "count")
    assert dict(rows) == {"renewal": 1, "left": 1, "pause": 1}
