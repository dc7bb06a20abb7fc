"""Budgets (S9): what is exhausted stops cleanly, with a person who may add some more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from accounts.ids import new_id
from accounts.models import AuditEntry
from approvals import errors, shown
from approvals.models import Decision, PendingAction
from runs import timeline
from runs.engine.begin import begin
from runs.engine.deadlines import stop_overdue
from runs.engine.types import Claimed, Go, Outcome, Plan, Stop
from runs.models import Event, Run, Step
from tests.make import runs as make
from tests.runs.engine import hands
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def bounded(house: make.House, count: int = 5, *, tool: str = "drill.noop", **limits: Any) -> Run:
    run = house.counted(count, tool=tool)
    Run.everywhere.filter(pk=run.pk).update(budget=limits)
    return make.again(run)


def using(tokens: int = 0, cost: str = "0") -> Any:
    """Every call uses so much."""

    def act(claimed: Claimed) -> Outcome:
        outcome = hands.done(claimed)
        if claimed.kind != "plan":
            outcome.tokens, outcome.cost = tokens, cost
        return outcome

    return act


def calls(run: Run) -> int:
    return Step.everywhere.filter(run=run, kind="call").count()


def stopped(house: make.House, run: Run, name: str) -> PendingAction:
    """The run waits for one person because of that budget."""
    run = make.again(run)
    assert run.status == "WAITING_APPROVAL"
    asked = house.action(run, "take_over")
    assert (asked.status, run.takeover) == ("OPEN", asked.pk)
    taken = Event.everywhere.get(run=run, type="run.taken_over")
    assert taken.payload["code"] == name
    assert hands.take(house.me) == []
    assert timeline.verify(run.pk) == []
    return asked


@pytest.mark.parametrize(
    ("name", "limit", "done", "words"),
    [
        ("tool_calls", 3, 3, "3 of 3"),
        ("steps", 2, 2, "2 of 2"),
        ("tokens", 250, 3, "300 of 250"),
        ("cost", "0.3", 3, "0.3 of 0.3"),
    ],
)
def test_s9_a_budget_that_is_used_up_stops_the_run_cleanly(house, name, limit, done, words):
    """Guards runs/engine/reserve.py `room_for`: asked for every new step, before it is planned."""
    run = bounded(house, **{name: limit})
    hands.run_all(house.me, using(tokens=100, cost="0.1"))
    asked = stopped(house, run, f"budget_{name}")
    assert words in asked.sentence
    assert calls(run) == done


def test_s9_a_person_adds_some_more_and_it_goes_on(house):
    """Guards runs/engine/allow_more.py: what was added is in the budget, the history and the audit."""
    run = bounded(house, tool_calls=3)
    hands.run_all(house.me)
    stopped(house, run, "budget_tool_calls")
    house.answer(run, "continue", kind="take_over", more="2")
    hands.run_all(house.me)
    run = make.again(run)
    assert (run.status, run.takeover, run.budget) == ("SUCCEEDED", None, {"tool_calls": 5})
    assert run.spent["tool_calls"] == 5
    raised = Event.everywhere.get(run=run, type="run.limit_raised").payload
    assert (raised["before"], raised["more"], raised["after"]) == ("3", "2", "5")
    assert AuditEntry.everywhere.get(run_id=run.pk, act="run.limit_raised").actor == house.ben
    assert Decision.everywhere.get(verdict="continue").edited == {"limit": "tool_calls", "more": "2"}
    assert timeline.verify(run.pk) == []


@pytest.mark.parametrize("more", ["", "0", "-1", "1e9", "12345678", "٣", "nan", "1.0000001"])
def test_s9_what_is_added_is_a_plain_number_above_zero(house, more):
    """Guards approvals/answers.py `_check_more`."""
    run = bounded(house, tool_calls=1)
    hands.run_all(house.me)
    with pytest.raises(errors.BadAnswer) as refused:
        house.answer(run, "continue", kind="take_over", more=more)
    assert refused.value.field == "more"
    assert house.action(run, "take_over").status == "OPEN"


def test_s9_the_submitter_stays_below_what_the_agent_declares(house):
    """Guards approvals/answers.py `_check_more`: beyond the agent's own limit somebody else has to allow it."""
    run = house.submitted(*(house.upload(f"{make.CONTRACT} Copy {n}.", f"{n}.txt") for n in range(3)))
    Run.everywhere.filter(pk=run.pk).update(budget={"steps": 120, "tool_calls": 2})
    hands.run_all(house.me)
    stopped(house, run, "budget_tool_calls")
    for more in ("119", "1.5"):
        with pytest.raises(errors.BadAnswer) as refused:
            house.answer(run, "continue", kind="take_over", user_id=house.ada.pk, more=more)
        assert refused.value.field == "more"
    house.answer(run, "continue", kind="take_over", user_id=house.ada.pk, more="118")
    assert house.action(run, "take_over").status == "ANSWERED"


def test_s9_what_a_limit_cut_off_a_plan_is_planned_when_it_goes_on(house):
    """The whole review is done after somebody allowed the calls that it still needed."""
    files = [house.upload(f"{make.CONTRACT} Copy {n}.", f"{n}.txt") for n in range(4)]
    run = house.submitted(*files, notify="")
    Run.everywhere.filter(pk=run.pk).update(budget={"steps": 120, "tool_calls": 2})
    house.finish()
    asked = stopped(house, run, "budget_tool_calls")
    # What was planned up to the limit is named, although it went into the table together with the question.
    left = shown.read(asked.shown)["facts"]["waiting"]
    assert [step["title"] for step in left] == ["0.txt", "1.txt"]
    house.answer(run, "continue", kind="take_over", more="50")
    house.finish()
    assert make.again(run).status == "SUCCEEDED"
    assert calls(run) == 5


def test_s9_a_person_may_end_it_instead(house):
    run = bounded(house, tool_calls=1)
    hands.run_all(house.me)
    house.answer(run, "fail", kind="take_over", comment="Enough.")
    run = make.again(run)
    assert (run.status, run.takeover, (run.failure or {})["text"]) == ("FAILED", None, "Enough.")


def test_s9_what_is_under_way_has_its_budget_reserved(house):
    """Guards runs/engine/reserve.py `_reserved`: steps that are not done count, whatever was spent so far."""
    run = bounded(house, tool_calls=3)
    keys = [{"do": "call", "key": f"k{n}", "tool": "drill.noop", "arguments": {}} for n in range(3)]
    (claimed,) = hands.take(house.me)
    hands.put(house.me, Outcome(claimed, "succeeded", plan=Plan(claimed.version, keys[:2])))
    first, _second = hands.take(house.me)
    more = [*keys, {**keys[0], "key": "k3"}]
    hands.put(house.me, Outcome(first, "succeeded", plan=Plan(first.version, more)))
    assert calls(run) == 3
    assert make.again(run).takeover is not None
    assert Event.everywhere.get(run=run, type="run.taken_over").payload["code"] == "budget_tool_calls"


def effect(house: make.House, **limits: Any) -> tuple[Run, Claimed]:
    """A run of two effects of which the first is claimed."""
    run = bounded(house, 2, tool="drill.effect", **limits)
    (plan,) = hands.take(house.me)
    hands.put(house.me, hands.done(plan))
    (claimed,) = hands.take(house.me)
    return run, claimed


def asked_to_begin(house: make.House, claimed: Claimed) -> Go | Stop:
    return begin(claimed=claimed, worker_id=house.me.pk, sender=new_id(), pid=77)


def test_s9_an_unknown_outcome_keeps_its_budget_until_it_is_settled(house):
    """Guards runs/sql/reserved.sql: an UNKNOWN step may have to be sent again, so its call stays reserved."""
    from runs.engine.reserve import room_for
    from runs.engine.workspace import locked_one

    run, claimed = effect(house, tool_calls=2)
    go = asked_to_begin(house, claimed)
    assert isinstance(go, Go)
    hands.put(house.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))

    def left() -> Any:
        with transaction.atomic():
            _, locked = locked_one(run.pk)
            assert locked is not None
            return room_for(locked, kind="call", contract=None, live=1)

    assert (make.again(run).spent["tool_calls"], left().name) == (1, "tool_calls")
    house.answer(run, "happened", kind="settle", reference="seen in the ledger")
    assert left() is None


def test_s9_no_effect_begins_without_budget(house):
    """Guards runs/engine/begin.py: the budget is asked again under the lock, after whatever happened since planning."""
    run, claimed = effect(house, cost="1", tool_calls=5)
    Run.everywhere.filter(pk=run.pk).update(spent={"cost": "1"})
    said = asked_to_begin(house, claimed)
    assert isinstance(said, Stop)
    assert (said.why, said.code) == ("waiting", "taken_over")
    hands.put(house.me, Outcome(claimed, "waiting"))
    step = Step.everywhere.get(pk=claimed.step_id)
    assert (step.status, step.failures, step.losses) == ("PENDING", 0, 0)
    assert Intent.everywhere.get().dispatches == 0
    stopped(house, run, "budget_cost")
    house.answer(run, "continue", kind="take_over", more="0.5")
    claimed = next(one for one in hands.take(house.me) if one.kind == "call")
    assert isinstance(asked_to_begin(house, claimed), Go)


def test_s9_a_retry_is_paid_for_like_the_first_try(house):
    """Guards runs/engine/commit.py `take`: a try that failed is booked, and the next one waits for a person."""
    run = bounded(house, 1, tool="drill.noop", tool_calls=2)

    def fail(claimed: Claimed) -> Outcome:
        return hands.done(claimed) if claimed.kind == "plan" else Outcome(claimed, "failed", error_code="x")

    for _ in range(4):
        Step.everywhere.filter(run=run, status="PENDING").update(not_before=Now())
        hands.put(house.me, *[fail(one) for one in hands.take(house.me)])
    stopped(house, run, "budget_tool_calls")
    assert Step.everywhere.get(run=run, kind="call").attempt == 2
    assert make.again(run).spent["tool_calls"] == 2


def back(run: Run, **ago: float) -> None:
    """As if the last event of the run had been so long ago."""
    Run.everywhere.filter(pk=run.pk).update(last_event_at=F("last_event_at") - timedelta(**ago))


def test_s9_working_time_ends_while_a_step_runs_and_that_step_still_counts(house):
    """Guards runs/engine/deadlines.py: the step under way is recorded, and nothing new starts."""
    run = bounded(house, wall_seconds=60)
    (plan,) = hands.take(house.me)
    hands.put(house.me, hands.done(plan))
    (claimed,) = hands.take(house.me)
    assert stop_overdue() == 0
    back(run, seconds=61)
    assert stop_overdue() == 1
    assert stop_overdue() == 0, "once"
    assert make.again(run).status == "RUNNING"
    assert hands.put(house.me, hands.done(claimed), room=hands.ROOM).refused == []
    asked = stopped(house, run, "budget_wall_seconds")
    assert "61 of 60 seconds" in asked.sentence
    assert Step.everywhere.get(pk=claimed.step_id).status == "SUCCEEDED"
    house.answer(run, "continue", kind="take_over", more="60")
    hands.run_all(house.me)
    assert make.again(run).status == "SUCCEEDED"
    assert float(make.again(run).spent["wall_seconds"]) >= 61


def waiting(house: make.House) -> Run:
    """A letter waits for its approval."""
    mail = {"to": "legal@halden.example", "subject": "Notice", "text": "We do not renew."}
    run = house.counted(1, tool="mail.send", arguments=mail)
    hands.run_all(house.me)
    return make.again(run)


def test_s9_waiting_for_a_person_is_no_working_time_however_long(house):
    """Guards runs/engine/workspace.py `wall_seconds` and overdue_runs.sql: only RUNNING counts."""
    run = waiting(house)
    Run.everywhere.filter(pk=run.pk).update(budget={"wall_seconds": 60})
    back(run, days=400)
    assert stop_overdue() == 0
    house.answer(run, "reject", comment="No.")
    hands.run_all(house.me)
    run = make.again(run)
    assert (run.status, float(run.spent["wall_seconds"]) < 60) == ("SUCCEEDED", True)


def test_s9_the_deadline_waits_for_nobody(house):
    """Guards overdue_runs.sql: it passes while a person is asked, too; the question stays, and the answer is kept."""
    run = waiting(house)
    Run.everywhere.filter(pk=run.pk).update(deadline=Now() - timedelta(seconds=5))
    assert stop_overdue() == 1
    assert house.action(run).status == "OPEN"
    house.answer(run, "approve")
    step = Step.everywhere.get(run=run, kind="call")
    assert (step.status, step.epoch) == ("PENDING", 2)
    assert hands.take(house.me) == [], "approved, but held until somebody gives it time"
    house.answer(run, "continue", kind="take_over", more="3600")
    assert make.again(run).deadline > Step.everywhere.get(pk=step.pk).created_at
    assert any(one.step_id == step.pk for one in hands.take(house.me))


def test_s9_who_waits_says_why_even_after_the_last_step(house):
    """Guards runs/engine/status.py `_wait`: a run that is held names the question once nothing is under way."""
    run = bounded(house, wall_seconds=60)
    (plan,) = hands.take(house.me)
    hands.put(house.me, hands.done(plan))
    (claimed,) = hands.take(house.me)
    back(run, seconds=61)
    stop_overdue()
    assert (make.again(run).status, make.again(run).waiting_on) == ("RUNNING", "")
    hands.put(house.me, hands.done(claimed))
    run = make.again(run)
    assert (run.status, run.waiting_on) == ("WAITING_APPROVAL", house.action(run, "take_over").sentence)
    assert run.waiting_since is not None


def test_s9_one_bad_run_does_not_stop_the_others(house, monkeypatch):
    """Guards runs/engine/deadlines.py `stop_overdue`: each run by itself."""
    from runs.engine import deadlines

    first, second = (bounded(house, wall_seconds=60) for _ in range(2))
    Run.everywhere.update(deadline=Now() - timedelta(seconds=5))
    real = deadlines.stop_if_late

    def broken(run: Any) -> bool:
        if run.id == first.pk:
            raise RuntimeError("a row that nobody can read")
        return real(run)

    monkeypatch.setattr(deadlines, "stop_if_late", broken)
    assert stop_overdue() == 1
    assert make.again(first).takeover is None
    assert make.again(second).takeover is not None
