"""A node as it is deployed: it executes, and nothing that tools do harms it."""

from __future__ import annotations

import pytest

from runs import timeline
from runs.models import Run
from tests.runs.node import real
from tools.models import Intent, WorkerProcess

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]


def test_runs_are_executed_to_their_end(start, who):
    node = start()
    runs = [real.run_of(who, steps=5) for _ in range(5)]
    real.ended(*runs)
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    assert [timeline.verify(run_id=run.pk) for run in runs] == [[]] * 5
    assert {step.attempt for run in runs for step in real.calls(run)} == {1}
    me = WorkerProcess.objects.filter(pk=node.worker.pk, last_claim_at__isnull=False)
    real.until(me.exists, what="the keeper says when work was last taken")


def test_main_runs_no_tool(start, who):
    """What a tool says its process is, is a child of the node."""
    node = start()
    run = real.run_of(who, tool="drill.pid")
    real.ended(run)
    assert real.calls(run)[0].output == {"pid": node.child("io").pid}


def test_b78_a_result_with_nul_is_stored_and_marked(start, who):
    """Guards `runs.node.execute._succeeded`: what PostgreSQL cannot store is escaped, so a success is not tried again."""
    start()
    run = real.run_of(who, tool="drill.nul")
    real.ended(run)
    step = real.calls(run)[0]
    assert (step.status, step.attempt) == ("SUCCEEDED", 1)
    assert step.output == {
        "text": "before\\u0000after",
        "half": "\\ud800",
        "numbers": ["NaN", "Infinity"],
        "escaped": True,
    }


def test_b78_an_effect_that_answers_nul_stays_done(start, who, ledger):
    """Guards `runs.node.execute._succeeded`: the effect is confirmed and happened one time."""
    start(COUNTERSIGN_DRILL_LEDGER=str(ledger))
    run = real.run_of(who, tool="drill.effect", arguments={"nul": True})
    real.ended(run)
    assert real.calls(run)[0].output == {"line": 1, "answer": None, "text": "a\\u0000b", "escaped": True}
    assert Intent.everywhere.get(run_id=run.pk).status == "CONFIRMED"
    assert len(ledger.read_text().splitlines()) == 1


@pytest.mark.parametrize("tool", ["drill.crash", "drill.starve"])
def test_b03_a_step_that_kills_its_child_fails_and_the_others_go_on(start, who, tool):
    """Guards `runs.engine.commit.verdict` (losses) and `runs.node.pump.Pump._died` (a dead child's step is lost). The
    second dies of its memory limit (RLIMIT_AS), as a library does that cannot allocate."""
    start()
    poison = real.run_of(who, tool=tool)
    others = [real.run_of(who, tool="drill.noop", steps=3) for _ in range(3)]
    real.ended(*others, poison, seconds=150)
    step = real.calls(poison)[0]
    assert (step.status, step.losses, step.attempt) == ("FAILED", 3, 3)
    assert {real.status(run) for run in others} == {"SUCCEEDED"}


def test_a_step_that_takes_all_memory_fails_and_its_child_is_replaced(start, who):
    node = start()
    before = node.child("cpu").pid
    hog = real.run_of(who, tool="drill.hog")
    retried = real.until(lambda: real.events(hog, "step.retried"), what="the hog is refused its memory")
    assert retried[0]["code"] == "memory_limit"
    after = real.until(lambda: next((c for c in node.children("cpu") if c.pid != before), None))
    assert after.pid != before
    assert real.events(hog, "step.lost") == []


def test_b83_a_step_that_never_comes_back_is_killed_at_its_limit(start, who):
    """Guards `runs.node.pump.Pump._scan`: main ends a child that holds its interpreter for ever; the node lives."""
    start()
    stuck = real.run_of(who, tool="drill.redos")
    retried = real.until(lambda: real.events(stuck, "step.retried"), what="the time limit ends it")
    assert retried[0]["code"] == "timeout"
    other = real.run_of(who, tool="drill.noop")
    real.ended(other)
    assert real.status(other) == "SUCCEEDED"


def test_cancel_reaches_a_waiting_tool(start, who):
    """NOTIFY wakes the keeper: far faster than the lease or the time limit of the tool (an hour)."""
    from runs.engine.cancel import cancel

    start(COUNTERSIGN_RENEW_SECONDS="5", COUNTERSIGN_LEASE_SECONDS="30")
    run = real.run_of(who, tool="drill.sleep", arguments={"seconds": 3000})
    real.running(run)
    cancel(run_id=run.pk, user_id=who[1].pk, reason="changed my mind")
    real.ended(run, seconds=4)
    assert real.status(run) == "CANCELLED"
    assert real.calls(run)[0].status == "CANCELLED"


def test_b79_a_failure_text_with_half_a_character_is_kept(start, who):
    """Guards `runs.node.execute._ended`: the text of an error is made storable."""
    start()
    run = real.run_of(who, tool="drill.effect")  # no ledger: the tool fails
    real.until(lambda: Run.everywhere.get(pk=run.pk).status in ("FAILED", "SUCCEEDED", "WAITING_APPROVAL"))
    assert real.calls(run)[0].error_code == "no_ledger"
