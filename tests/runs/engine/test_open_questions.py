"""When a run has ended, however it ended, nothing of it is still asked."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import errors
from approvals.models import PendingAction
from runs import timeline
from runs.engine.cancel import cancel
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Outcome, Plan
from tests.make import runs as make
from tests.runs.engine import hands
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

MAIL = {"to": "legal@halden.example", "subject": "Notice", "text": "We do not renew."}
BOTH = [
    {"do": "call", "key": "mail", "tool": "mail.send", "arguments": MAIL},
    {"do": "call", "key": "look", "tool": "drill.noop", "arguments": {}},
]


@pytest.fixture
def house() -> make.House:
    return make.house()


def asking_and_stuck(house: make.House) -> Any:
    """A letter waits for its approval while the agent says that it is done: a person has to take over."""
    run = house.counted(steps=2, tool="mail.send")

    def act(claimed: Claimed) -> Outcome:
        ends = [{"do": "finish", "result": {}}]
        plan = Plan(claimed.version, BOTH if claimed.key == "plan/1" else ends)
        return Outcome(claimed, "succeeded", None, plan=plan)

    hands.run_all(house.me, act, rounds=10)
    kinds = PendingAction.everywhere.filter(run_id=run.pk, status="OPEN").values_list("kind", flat=True)
    assert sorted(kinds) == ["approve", "take_over"]
    return run


def nothing_is_asked(house: make.House, run: Any) -> None:
    """No row is open, no list and no badge shows one, and an old tab gets the conflict."""
    from approvals.inbox import count_for

    assert not PendingAction.everywhere.filter(run_id=run.pk, status="OPEN").exists()
    assert count_for(user_id=house.ben.pk, tenant_id=house.tenant.pk) == 0
    letter = house.action(run)
    assert letter.status == "WITHDRAWN"
    with pytest.raises(errors.AlreadyDecided):
        house.answer(run, "approve")
    assert Intent.everywhere.get(run_id=run.pk).status == "VOIDED"
    assert timeline.verify(run.pk) == []


def test_b57_a_run_that_fails_leaves_no_question_open(house):
    """Guards runs/engine/resume.py `_stop_waiting`: it withdraws what the steps that it ends still ask."""
    run = asking_and_stuck(house)
    house.answer(run, "fail", kind="take_over", comment="Not worth it.")
    resume_decided()
    assert make.again(run).status == "FAILED"
    nothing_is_asked(house, run)


def test_b57_a_run_that_is_cancelled_leaves_no_question_open(house):
    """Guards runs/engine/cancel.py `_request`: it withdraws the open questions of the run."""
    run = asking_and_stuck(house)
    cancel(run_id=run.pk, user_id=house.ada.pk, reason="changed my mind")
    assert make.again(run).status == "CANCELLED"
    nothing_is_asked(house, run)


def test_b57_a_run_cannot_be_done_while_something_is_asked(house):
    """Guards runs/engine/planner.py `_end`: an end while steps are live is a takeover."""
    run = asking_and_stuck(house)
    assert make.again(run).status == "WAITING_APPROVAL"
    house.answer(run, "reject", comment="No.")
    assert house.action(run).status == "REJECTED"
