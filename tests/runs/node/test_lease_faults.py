"""Nodes whose way to the database fails: for the renewals alone, for all of it, at a COMMIT, or whose clocks are wrong."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from accounts.models import AuditEntry
from runs import timeline
from runs.engine.cancel import cancel
from runs.models import Run, Step
from tests import needs
from tests.races.proxy import KEEPER, Proxy, proxied
from tests.runs.node import real
from tools.models import Intent

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]

_IN_TRANSACTION = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND pid <> pg_backend_pid()"""
_SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def proxy(transactional_db: None) -> Iterator[Proxy]:
    with proxied(real.database_url()) as found:
        yield found


def waiting_at(gate: Path, who: tuple[object, object]) -> Run:
    return real.run_of(who, tool="drill.gate", arguments={"path": str(gate)})  # type: ignore[arg-type]


def look(query: str) -> int:
    with psycopg.connect(real.database_url(), autocommit=True) as db:
        row = db.execute(query).fetchone()
    return int(row[0]) if row else 0


def quarantined(run: Run) -> list[AuditEntry]:
    return list(AuditEntry.everywhere.filter(run_id=run.pk, act="step.quarantined"))


def attempts(run: Run) -> list[int]:
    """Which attempts of its first call were recorded as a success: one, or something happened twice."""
    return [line["attempt"] for line in real.events(run, "step.succeeded") if line["key"] == "count/1"]


def test_b23_b35_without_renewals_a_step_changes_hands_once(start, who, proxy, gate):
    """Guards `runs/sql/expired_steps.sql` and `runs.node.keeper.Keeper._failed`: only the renewals of the first node fail.
    It stops by itself, its lease runs out by the database's clock, and exactly one other execution follows."""
    first = start(DATABASE_URL=proxy.url, COUNTERSIGN_LEASE_SECONDS="6")
    run = waiting_at(gate, who)
    assert real.running(run).owner_id == first.worker.pk
    second = start(COUNTERSIGN_LEASE_SECONDS="6")
    proxy.only, proxy.swallow_new = KEEPER, True
    real.until(lambda: real.running(run).owner_id == second.worker.pk, what="the second node has the step")
    gate.touch()
    real.ended(run)
    (step,) = real.calls(run)
    assert (step.status, step.attempt, step.losses) == ("SUCCEEDED", 2, 1)
    assert attempts(run) == [2]
    assert first.process.poll() is None, "it waits for the database, it does not die"


def test_b35_an_effect_whose_lease_ended_is_not_sent_and_recorded_once(start, who, proxy, ledger):
    """Guards `runs.node.execute._steps`: the child was told to go, then nothing could be renewed for longer than the lease."""
    start(
        DATABASE_URL=proxy.url,
        COUNTERSIGN_DRILL_LEDGER=str(ledger),
        COUNTERSIGN_FAILPOINTS="send.before=sleep:5@1",
        COUNTERSIGN_FAILPOINT_DIR=str(ledger.parent),
    )
    run = real.run_of(who, tool="drill.effect")
    sent = Intent.everywhere.filter(run_id=run.pk, status="DISPATCHED")
    real.until(sent.exists, what="the effect has begun")
    proxy.only, proxy.swallow_new = KEEPER, True
    proxy.swallow(KEEPER)
    real.until(lambda: not sent.exists(), what="the effect is not under way any more")
    proxy.swallow_new = False
    real.until(
        lambda: real.status(run) in ("SUCCEEDED", "FAILED", "WAITING_APPROVAL"), what="the run goes on"
    )
    lines = len(ledger.read_text().splitlines())
    assert lines == len(Intent.everywhere.filter(run_id=run.pk, status="CONFIRMED")) <= 1
    assert timeline.verify(run_id=run.pk) == []


def test_b20_b39_a_restart_of_the_database_during_a_call_loses_nothing(start, who, proxy, gate):
    """Guards `runs.node.engine_threads.Engine._again` (a result that found no database is kept) and the guard of owner and
    fence in `runs/sql/finish_steps.sql`: ownership is a row, so it outlives every session, and the second node leaves it."""
    first = start(DATABASE_URL=proxy.url, COUNTERSIGN_LEASE_SECONDS="30")
    run = waiting_at(gate, who)
    mine = real.running(run)
    start(COUNTERSIGN_LEASE_SECONDS="30")
    real.until(lambda: look(_IN_TRANSACTION) == 0, what="no transaction is open while the tool works")
    proxy.away = True
    assert proxy.cut() >= 2
    gate.touch()
    real.until(lambda: "did not answer" in first.text(), what="the node notices")
    proxy.away = False
    real.ended(run)
    (step,) = real.calls(run)
    assert (step.status, step.attempt, step.fence) == ("SUCCEEDED", 1, mine.fence)
    assert attempts(run) == [1]
    assert quarantined(run) == []


def test_b21_renewals_go_on_after_restarts_and_no_connection_is_left_behind(start, who, proxy, gate):
    """Guards `runs.node.keeper.Keeper.run`: the side thread makes its connection again, and closes the old one."""
    node = start(DATABASE_URL=proxy.url)
    run = waiting_at(gate, who)
    step = real.running(run)

    def renewed() -> bool:
        before = step.lease_until
        step.refresh_from_db()
        assert before
        return bool(step.lease_until and step.lease_until > before)

    real.until(renewed, what="a first renewal")
    before = look(_SESSIONS)
    for _ in range(2):
        proxy.restart(0.5)
        real.until(renewed, what="a renewal after the restart")
        real.until(renewed, what="one more")
    real.until(lambda: look(_SESSIONS) <= before, what="as many sessions as before")
    gate.touch()
    real.ended(run)
    assert attempts(run) == [1]
    assert node.process.poll() is None


def test_b40_a_cancel_arrives_although_notifications_are_lost(start, who, proxy, gate):
    """Guards `runs.node.leash.Leash.look`: the listening connection is half open, so no bell rings; the look that comes
    round finds it, and the tool is cancelled, not lost with its lease."""
    start(DATABASE_URL=proxy.url, COUNTERSIGN_LEASE_SECONDS="9", COUNTERSIGN_RENEW_SECONDS="0.5")
    run = waiting_at(gate, who)
    real.running(run)
    assert proxy.swallow(KEEPER) == 1
    cancel(run_id=run.pk, user_id=who[1].pk)
    real.ended(run)
    (step,) = real.calls(run)
    assert (real.status(run), step.status, step.losses) == ("CANCELLED", "CANCELLED", 0)


def test_b44_a_commit_without_an_answer_is_looked_up_not_repeated(start, who, proxy):
    """Guards `runs.engine.fate._recorded`: every third COMMIT reaches the server, and its answer never comes
    back, ten times."""
    node = start(DATABASE_URL=proxy.url, COUNTERSIGN_LEASE_SECONDS="60")
    real.ended(real.run_of(who))
    proxy.cut_every = 3
    runs = [real.run_of(who, steps=4) for _ in range(4)]
    real.ended(*runs, seconds=60)
    proxy.cut_every = 0
    assert proxy.cuts >= 4
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    for run in runs:
        assert quarantined(run) == [], node.text()
        steps = real.calls(run)
        assert [(step.status, step.failures, step.losses) for step in steps] == [("SUCCEEDED", 0, 0)] * 4
        done = [line["key"] for line in real.events(run, "step.succeeded")]
        assert sorted(done) == sorted(set(done))
        assert timeline.verify(run_id=run.pk) == []


def test_b44_a_begin_without_an_answer_sends_its_effect_once(start, who, proxy, ledger):
    """Guards `runs.engine.begin._decide`: the dispatch is recognised as its own, and nothing was sent under it yet."""
    start(DATABASE_URL=proxy.url, COUNTERSIGN_DRILL_LEDGER=str(ledger), COUNTERSIGN_LEASE_SECONDS="60")
    real.ended(real.run_of(who))
    proxy.cut_every = 2
    runs = [real.run_of(who, tool="drill.effect") for _ in range(4)]
    real.ended(*runs, seconds=60)
    proxy.cut_every = 0
    assert proxy.cuts >= 2
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    assert len(ledger.read_text().splitlines()) == 4


def test_b41_wrong_clocks_of_hosts_decide_nothing(start, who, tmp_path, gate):
    """Guards `runs.node.clock.boot` and `clock_timestamp()` in the statements: two nodes, one ten minutes ahead, one ten
    behind, and in the middle of a lease the clock of the first is set back by twenty."""
    needs.program("faketime", "faketime")
    clock = tmp_path / "clock"
    clock.write_text("+600s\n")
    shifted = {"LD_PRELOAD": faketime(), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
    ahead = start(**shifted, FAKETIME_TIMESTAMP_FILE=str(clock))
    runs = [waiting_at(gate, who) for _ in range(3)]
    first = [real.running(run) for run in runs]
    start(**shifted, FAKETIME="-600s")
    runs += [waiting_at(gate, who) for _ in range(3)]
    first += [real.running(run) for run in runs[3:]]
    clock.write_text("-600s\n")
    for step in first:
        real.until(functools.partial(renewed_for_a_lease, step), what="each lease is renewed")
    gate.touch()
    real.ended(*runs)
    steps = [step for run in runs for step in real.calls(run)]
    assert [(step.status, step.attempt, step.losses, step.fence) for step in steps] == [
        ("SUCCEEDED", 1, 0, before.fence) for before in first
    ], ahead.text()


@pytest.mark.drills
def test_the_database_is_away_for_longer_than_a_lease(start, who, proxy, gate, ledger):
    """15 seconds with leases of ten (the defaults): the node stops its steps by itself before their leases end, lives on,
    and when the database is back every run ends, with one effect each."""
    defaults = dict.fromkeys((name for name in real.QUICK if name != "COUNTERSIGN_POOLS"), "")
    node = start(DATABASE_URL=proxy.url, COUNTERSIGN_DRILL_LEDGER=str(ledger), **defaults)
    held = [waiting_at(gate, who) for _ in range(20)]
    for run in held:
        real.running(run)
    effects = [real.run_of(who, tool="drill.effect") for _ in range(5)]
    real.ended(*effects)
    moving = [real.run_of(who, steps=200) for _ in range(5)]
    real.running(moving[0])
    proxy.restart(15)
    assert "renewals failed" in node.text() or "lost" in node.text()
    gate.touch()
    real.ended(*held, *moving, seconds=120)
    assert node.process.poll() is None
    assert {real.status(run) for run in (*held, *effects, *moving)} == {"SUCCEEDED"}
    assert {tuple(attempts(run)) for run in held} <= {(1,), (2,)}
    assert len(ledger.read_text().splitlines()) == 5
    assert [timeline.verify(run_id=run.pk) for run in (*held, *moving)] == [[]] * 25


def renewed_for_a_lease(before: Step) -> bool:
    """For longer than one lasts: by now a node that trusted its clock would have let it go."""
    assert before.lease_until
    beyond = before.lease_until + timedelta(seconds=float(real.QUICK["COUNTERSIGN_LEASE_SECONDS"]))
    return Step.everywhere.filter(pk=before.pk, lease_until__gt=beyond).exists()


def faketime() -> str:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return (
        str(found[0])
        if found
        else needs.missing("libfaketime is not installed; on Debian: apt-get install faketime")
    )


def test_b37_a_tool_that_falls_silent_is_ended(start, who):
    """Guards `runs.node.pump.Pump._scan`: it reports progress, then hangs; its node renews well, and its time limit is an
    hour away."""
    start(COUNTERSIGN_PROGRESS_SECONDS="1")
    run = real.run_of(who, tool="drill.stall", arguments={"seconds": 3})
    real.running(run)
    (line,) = real.until(lambda: real.events(run, "step.retried")[:1], what="it is ended")
    assert line["attempt"] == 1
    assert line["ms"] >= 3000, "not while it still reported progress"
