"""Author code that raises, hangs or ends its process while it plans: the outcome that it follows is recorded, a person takes
over, and the node and everybody else's steps go on."""

from __future__ import annotations

import pytest

from accounts.ids import new_id
from approvals.models import PendingAction
from runs import timeline
from runs.engine.submit import submit
from runs.models import Run, Step
from tests.runs.node import real
from tools.models import Intent

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]


def run_of(who, **given) -> Run:
    run, _ = submit(
        tenant_id=who[0].pk,
        submitter_id=who[1].pk,
        agent="drill-stubborn",
        goal="Misbehave",
        input=given,
        submit_key=new_id().hex,
    )
    return run


def test_agents_that_misbehave_end_in_a_takeover_and_harm_nobody(start, who, ledger):
    """Guards `runs.node.planning` (time limits), `runs.node.last_words` and `Pump._last_words`: the first step of each run
    has succeeded at its first attempt, a person is asked, and an innocent that waited in the same child is not blamed."""
    node = start(COUNTERSIGN_PLAN_SECONDS="1", COUNTERSIGN_DRILL_LEDGER=str(ledger))
    innocent = real.run_of(who, tool="drill.sleep", arguments={"seconds": 2})
    real.running(innocent)
    runs = {how: run_of(who, how=how) for how in ("raise", "spin", "deaf", "regex", "nonsense", "exit")}
    runs["effect"] = run_of(who, how="regex", tool="drill.effect")
    asked = PendingAction.everywhere.filter(kind="take_over", status="OPEN")
    real.until(lambda: asked.count() == len(runs), seconds=120, what="a person is asked about each")
    for how, run in runs.items():
        step = Step.everywhere.get(run=run, key="first")
        assert step.status == "SUCCEEDED", how
        assert real.status(run) == "WAITING_APPROVAL", how
        assert timeline.verify(run.pk) == []
        if how not in ("exit", "effect"):
            assert step.attempt == 1, how
    assert Intent.everywhere.get(run_id=runs["effect"].pk).status == "CONFIRMED"
    assert len(ledger.read_text().splitlines()) == 1
    real.ended(innocent, seconds=60)
    assert real.status(innocent) == "SUCCEEDED"
    after = real.run_of(who)
    real.ended(after)
    assert node.process.poll() is None
