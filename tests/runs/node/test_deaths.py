"""What is left when processes of a node die, stand still or are asked to stop."""

from __future__ import annotations

import signal
from datetime import timedelta

import psycopg
import pytest
from django.db.models import F, Max

from accounts.models import AuditEntry
from approvals.models import PendingAction
from runs import timeline
from runs.models import Run, Step
from tests.runs.node import real
from tools.models import Intent, WorkerProcess

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]

_CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port = ANY (%s)"


def test_the_steps_of_a_killed_child_run_again_at_once(start, who):
    """Guards `runs.node.pump.Pump._died`: no step waits for its lease (10 minutes here)."""
    node = start(COUNTERSIGN_LEASE_SECONDS="600")
    runs = [real.run_of(who, tool="drill.sleep", arguments={"seconds": 2}) for _ in range(20)]
    for run in runs:
        real.running(run)
    node.child("io").kill()
    real.ended(*runs)
    steps = [step for run in runs for step in real.calls(run)]
    assert {(step.status, step.losses, step.attempt) for step in steps} == {("SUCCEEDED", 1, 2)}


def test_o7_the_steps_of_a_killed_node_are_claimed_again_at_once(start, who, gate):
    """Guards `runs.node.watch.Watch`: the lock of the dead node is the proof, long before 10 minutes are over. Promised is
    one second from the kill until the last of its steps is claimed again."""
    first = start(COUNTERSIGN_LEASE_SECONDS="600")
    runs = [real.run_of(who, tool="drill.gate", arguments={"path": str(gate)}) for _ in range(50)]
    before = [real.running(run) for run in runs]
    assert {step.owner_id for step in before} == {first.worker.pk}
    second = start(COUNTERSIGN_LEASE_SECONDS="600")
    watched = WorkerProcess.objects.filter(pk=second.worker.pk, last_seen_at__gt=F("started_at"))
    real.until(watched.exists, what="the second node has looked around")
    killed = real.database_time()
    first.process.kill()
    mine = Step.everywhere.filter(owner=second.worker.pk, status="RUNNING", kind="call")
    real.until(lambda: mine.count() == 50, what="the second node has them all")
    last = mine.aggregate(last=Max("started_at"))["last"]
    assert (last - killed).total_seconds() < 1 * 5
    gate.touch()
    real.ended(*runs)
    assert WorkerProcess.objects.get(pk=first.worker.pk).gone_how == "lock"
    steps = [step for run in runs for step in real.calls(run)]
    assert {(step.status, step.attempt, step.losses) for step in steps} == {("SUCCEEDED", 2, 1)}
    assert [timeline.verify(run_id=run.pk) for run in runs] == [[]] * 50


def test_o7_on_another_host_the_lease_and_one_poll_decide(start, who, gate):
    """Guards `runs.engine.reclaim.reclaim`: no lock proves anything there, the lease of three seconds has to run out."""
    first = start()
    run = real.run_of(who, tool="drill.gate", arguments={"path": str(gate)})
    claimed = real.running(run).started_at
    WorkerProcess.objects.filter(pk=first.worker.pk).update(boot_id="another machine")
    second = start()
    killed = real.database_time()
    first.process.kill()
    real.until(lambda: real.running(run).owner_id == second.worker.pk, what="the second node has it")
    again = real.running(run).started_at
    assert claimed
    assert again
    lease, poll = (
        float(real.QUICK["COUNTERSIGN_LEASE_SECONDS"]),
        float(real.QUICK["COUNTERSIGN_POLL_SECONDS"]),
    )
    assert (again - killed).total_seconds() < (lease + poll) * 5
    assert again > claimed + timedelta(seconds=lease)
    assert WorkerProcess.objects.get(pk=first.worker.pk).gone_how == ""
    gate.touch()
    real.ended(run)


def test_identity_is_new_at_every_start_of_a_node(start, who):
    """Host, process and start of the machine are written down; the row is another one each time, whatever they are."""
    rows = []
    for _ in range(2):
        node = start()
        assert node.end(signal.SIGTERM) == 0
        rows.append(WorkerProcess.objects.get(pk=node.worker.pk))
    assert rows[0].pk != rows[1].pk
    for row, node_pid in zip(rows, (row.pid for row in rows), strict=True):
        assert (row.host, row.boot_id) == (rows[0].host, rows[0].boot_id)
        assert row.node == f"{row.host}:{node_pid}"
        assert row.gone_how == "clean"


def test_b02_a_stopped_node_gives_back_what_it_cannot_finish(start, who):
    """Guards `runs.node.node.Node.drain`: everything is free again at its end, and nothing was counted against a step."""
    node = start()
    waits = real.run_of(who, tool="drill.sleep", arguments={"seconds": 3000})
    blocks = real.run_of(who, tool="drill.busy", arguments={"seconds": 3000})
    real.running(waits), real.running(blocks)
    assert node.end(signal.SIGTERM) == 0
    for run in (waits, blocks):
        step = real.calls(run)[0]
        assert (step.status, step.owner_id, step.losses, step.failures) == ("PENDING", None, 0, 0), (
            node.text()
        )
    assert WorkerProcess.objects.get(pk=node.worker.pk).gone_how == "clean"


def test_b02_at_a_handover_each_step_has_one_owner(start, who, gate):
    """Guards `runs.node.node.Node.drain`: the first node is told to stop while a second one is ready. What it gives back is
    executed once by the second, what it can finish is not repeated, and it takes nothing new."""
    first = start(COUNTERSIGN_DRAIN_SECONDS="4")
    ends, waits = gate.with_name("ends"), gate
    finished = real.run_of(who, tool="drill.gate", arguments={"path": str(ends)})
    given_back = real.run_of(who, tool="drill.gate", arguments={"path": str(waits)})
    real.running(finished), real.running(given_back)
    second = start()
    first.send(signal.SIGTERM)
    draining = WorkerProcess.objects.filter(pk=first.worker.pk, draining=True)
    real.until(draining.exists, what="it drains")
    pids = {child.pid for child in first.children("io")}
    new = [real.run_of(who, tool="drill.pid") for _ in range(8)]
    ends.touch()
    assert first.process.wait(40) == 0
    waits.touch()
    real.ended(finished, given_back, *new)
    outputs = [real.calls(run)[0].output for run in new]
    assert all(output and output["pid"] not in pids for output in outputs)
    assert [(s.status, s.attempt) for s in real.calls(finished)] == [("SUCCEEDED", 1)]
    (step,) = real.calls(given_back)
    assert (step.status, step.attempt, step.losses, step.failures) == ("SUCCEEDED", 2, 0, 0)
    assert [
        line["attempt"] for line in real.events(given_back, "step.succeeded") if line["key"] == "count/1"
    ] == [2]
    assert second.process.poll() is None


@pytest.mark.parametrize(("grace", "status"), [("15", "CONFIRMED"), ("0.2", "UNKNOWN")])
def test_b07_an_effect_during_the_grace_period_is_recorded_once(start, who, ledger, grace, status):
    """Guards `runs.node.node.Node.drain` and `runs.node.pump.Pump._outcome_of_dead`: the effect is done when the node is told
    to stop, its answer still under way. In time it is recorded; too late it is unknown. The shutdown never makes it a retry.
    """
    node = start(
        COUNTERSIGN_DRILL_LEDGER=str(ledger),
        COUNTERSIGN_FAILPOINTS="send.answered=sleep:2",
        COUNTERSIGN_DRAIN_SECONDS=grace,
        COUNTERSIGN_LEASE_SECONDS="60",
    )
    run = real.run_of(who, tool="drill.effect")
    real.until(ledger.read_text, what="the effect is done")
    assert node.end(signal.SIGTERM, seconds=60) == 0
    assert Intent.everywhere.get(run_id=run.pk).status == status
    start(COUNTERSIGN_DRILL_LEDGER=str(ledger))
    real.until(lambda: real.status(run) in ("SUCCEEDED", "WAITING_APPROVAL"), what="the next node goes on")
    assert len(ledger.read_text().splitlines()) == 1
    assert real.calls(run)[0].attempt == 1


def test_a_stopped_node_finishes_what_ends_in_time(start, who):
    node = start(COUNTERSIGN_DRAIN_SECONDS="20")
    run = real.run_of(who, tool="drill.sleep", arguments={"seconds": 3})
    real.running(run)
    assert node.end(signal.SIGTERM, seconds=40) == 0
    step = real.calls(run)[0]
    assert (step.status, step.attempt) == ("SUCCEEDED", 1)


def test_b35_a_node_that_stood_still_changes_nothing_when_it_goes_on(start, who):
    """Guards the fence in `finish_steps.sql`: the result of the frozen node goes to quarantine, one event stays."""
    first = start()
    run = real.run_of(who, tool="drill.sleep", arguments={"seconds": 1})
    real.running(run)
    first.send(signal.SIGSTOP)
    start()
    real.ended(run, seconds=60)
    step = real.calls(run)[0]
    assert (step.status, step.attempt) == ("SUCCEEDED", 2)
    first.send(signal.SIGCONT)
    late = AuditEntry.everywhere.filter(run_id=run.pk, act="step.quarantined")
    real.until(late.exists, what="the late result is quarantined")
    assert [line["attempt"] for line in real.events(run, "step.succeeded") if line["key"] == "count/1"] == [2]
    assert timeline.verify(run_id=run.pk) == []


def test_a_child_killed_after_begin_leaves_an_unknown_that_a_person_settles(start, who, ledger):
    """Guards `runs.node.pump.Pump._outcome_of_dead`: what may have been sent is never sent again by itself."""
    start(COUNTERSIGN_DRILL_LEDGER=str(ledger), COUNTERSIGN_FAILPOINTS="send.before=kill")
    run = real.run_of(who, tool="drill.effect")
    real.until(lambda: real.status(run) == "WAITING_APPROVAL", what="the run waits for a person")
    intent = Intent.everywhere.get(run_id=run.pk)
    assert (intent.status, real.calls(run)[0].status) == ("UNKNOWN", "UNKNOWN")
    assert PendingAction.everywhere.get(run_id=run.pk).kind == "settle"
    assert WorkerProcess.objects.get(pk=intent.sender_id).gone_how == "supervisor"
    assert ledger.read_text() == ""


def test_a_child_killed_after_the_send_leaves_one_effect(start, who, ledger):
    start(COUNTERSIGN_DRILL_LEDGER=str(ledger), COUNTERSIGN_FAILPOINTS="send.answered=kill")
    run = real.run_of(who, tool="drill.effect")
    real.until(lambda: real.status(run) == "WAITING_APPROVAL", what="the run waits for a person")
    assert Intent.everywhere.get(run_id=run.pk).status == "UNKNOWN"
    assert len(ledger.read_text().splitlines()) == 1


def test_b44_results_whose_commit_lost_its_answer_are_not_written_twice(start, who):
    """Guards `runs.engine.fate.not_recorded`: connections are cut all the while, every step succeeds at its first attempt
    and nothing of its own goes to quarantine."""
    node = start(COUNTERSIGN_LEASE_SECONDS="600")
    real.ended(real.run_of(who))
    runs = [real.run_of(who, steps=20) for _ in range(10)]
    cut = 0
    unfinished = Run.everywhere.filter(pk__in=[run.pk for run in runs], finished_at__isnull=True)
    with psycopg.connect(real.database_url(), autocommit=True) as db:
        while unfinished.exists() and cut < 60:
            cut += db.execute(_CUT, [node.ports()]).rowcount
    assert cut > 0
    real.ended(*runs, seconds=60)
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    assert not AuditEntry.everywhere.filter(act="step.quarantined").exists(), node.text()
    assert {step.failures for run in runs for step in real.calls(run)} == {0}
    assert {len(real.calls(run)) for run in runs} == {20}
    assert [timeline.verify(run_id=run.pk) for run in runs] == [[]] * 10
