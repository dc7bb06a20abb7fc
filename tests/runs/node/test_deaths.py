"""What is left when processes of a node die, stand still or are asked to stop."""

from __future__ import annotations

import signal

import psycopg
import pytest

from accounts.models import AuditEntry
from approvals.models import PendingAction
from runs import timeline
from runs.models import Run
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


def test_o7_the_steps_of_a_killed_node_are_taken_over_before_their_lease_ends(start, who):
    """Guards `runs.node.watch.Watch`: the lock of the dead node is the proof, long before 10 minutes are over."""
    both = [start(COUNTERSIGN_LEASE_SECONDS="600") for _ in range(2)]
    runs = [real.run_of(who, tool="drill.sleep", arguments={"seconds": 4}) for _ in range(10)]
    owners = [real.running(run).owner_id for run in runs]
    first = next(node for node in both if node.worker.pk == owners[0])
    first.end(signal.SIGKILL)
    real.ended(*runs)
    gone = WorkerProcess.objects.get(pk=first.worker.pk)
    assert gone.gone_how == "lock"
    steps = [step for run in runs for step in real.calls(run)]
    assert {step.status for step in steps} == {"SUCCEEDED"}
    assert [step.losses for step in steps] == [int(owner == first.worker.pk) for owner in owners]
    assert [timeline.verify(run_id=run.pk) for run in runs] == [[]] * 10


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
