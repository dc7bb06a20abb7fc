"""A tool that answers after its time is over."""

from __future__ import annotations

import pytest

from approvals.models import PendingAction
from runs import timeline
from runs.node import pump
from tests.runs.node import real
from tests.tools import make
from tools.models import EffectClass, Intent

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]


def test_b22_a_time_out_is_no_failure_and_the_late_answer_is_the_truth(start, who, ledger):
    """Guards runs/engine/record.py (`_ours`: `lose`; `_late`: `confirm`) with a real tool: step time-out 2 s, the tool answers
    later. UNKNOWN at first, one effect, and the late answer ends the doubt as evidence."""
    limits = {"timeout_seconds": 2, "isolation": "thread"}
    make.contract(
        who[0],
        "drill.effect",
        target="drill.effect",
        effect_class=EffectClass.COMPENSABLE,
        compensating_tool="drill.undo",
        **limits,
    )
    start(COUNTERSIGN_DRILL_LEDGER=str(ledger), COUNTERSIGN_LEASE_SECONDS="60")
    seconds = limits["timeout_seconds"] + pump.OBEY + 3  # type: ignore[operator]
    run = real.run_of(who, tool="drill.effect", arguments={"seconds": seconds, "answer": "booked"})
    intents = Intent.everywhere.filter(run_id=run.pk)
    real.until(intents.filter(status="UNKNOWN").exists, what="the outcome is unknown")
    assert len(ledger.read_text().splitlines()) == 1
    real.ended(run)
    intent = intents.get()
    assert (real.status(run), intent.status, intent.dispatches) == ("SUCCEEDED", "CONFIRMED", 1)
    assert intent.answer["answer"] == "booked"
    assert "late sender" in [item.get("kind") for item in intent.evidence]
    assert len(ledger.read_text().splitlines()) == 1
    assert PendingAction.everywhere.get(run_id=run.pk, kind="settle").status == "WITHDRAWN"
    assert timeline.verify(run.pk) == []
