"""Retry (S7, O3): what the contract declares, and not one try more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from accounts.ids import new_id
from approvals import errors
from approvals.models import PendingAction
from runs import timeline
from runs.engine import retry
from runs.engine.begin import begin
from runs.engine.submit import submit
from runs.engine.types import Claimed, Go, Outcome, Plan
from runs.models import Event, Run, Step
from tests.make import runs as make
from tests.runs.engine import hands
from tests.tools import make as bench
from tools.models import Contract, Intent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def declared(run: Run, tool: str = "drill.noop", **values: Any) -> None:
    """Pins the run to a contract of this tool that declares so much."""
    first = Contract.everywhere.get(tool__name=tool, tenant_id=run.tenant_id, status="PUBLISHED")
    kept = {
        name: getattr(first, name) for name in ("adapter", "target", "effect_class", "isolation", "concerns")
    }
    kept |= {
        name: getattr(first, name)
        for name in ("native_idempotency", "retry_safe", "compensating_tool", "risk")
    }
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tools_contract DISABLE TRIGGER USER")
    Contract.everywhere.filter(pk=first.pk).update(status="RETIRED")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tools_contract ENABLE TRIGGER USER")
    other = Contract.everywhere.create(
        tenant_id=run.tenant_id,
        tool=first.tool,
        version=first.version + 1,
        definition_digest="x",
        published_at=first.published_at,
        **{**kept, "status": "PUBLISHED", **values},
    )
    pinned = {**make.again(run).contracts, tool: other.pk.hex}
    Run.everywhere.filter(pk=run.pk).update(contracts=pinned)


def fails(code: str = "no_answer", *, ending: Any = "failed", **used: Any) -> Any:
    def act(claimed: Claimed) -> Outcome:
        if claimed.kind == "plan":
            return hands.done(claimed)
        plan = hands.planned(claimed, status="FAILED", code=code) if ending != "drained" else None
        return Outcome(claimed, ending, error_code=code, error_text="It said no.", plan=plan, **used)

    return act


def tried(house: make.House, run: Run, act: Any, *, rounds: int = 12) -> Step:
    """The step after that many rounds, each as soon as its pause is over."""
    for _ in range(rounds):
        Step.everywhere.filter(run=run, status="PENDING").update(not_before=Now())
        hands.put(house.me, *[act(one) for one in hands.take(house.me)])
    found: Step = Step.everywhere.filter(run=run, kind="call").order_by("seq")[0]
    return found


def test_s7_reading_is_tried_three_times_then_the_agent_is_told(house):
    """Guards runs/engine/retry.py `allowed`: three by default, counted in the row."""
    run = house.counted(1)
    step = tried(house, run, fails())
    assert (step.status, step.attempt, step.failures, step.error_code) == ("FAILED", 3, 3, "no_answer")
    assert make.again(run).status == "SUCCEEDED", "the agent was told, and went on"
    assert timeline.verify(run.pk) == []


def test_s7_the_pause_stands_in_the_database_and_doubles(house):
    """Guards runs/sql/finish_steps.sql `not_before`: nobody claims the step before its pause is over."""
    run = house.counted(1)
    declared(run, backoff_seconds=100)
    pauses = []
    for _ in range(2):
        Step.everywhere.filter(run=run, status="PENDING").update(not_before=Now())
        claimed = hands.take(house.me)
        if claimed[0].kind == "plan":
            hands.put(house.me, *[hands.done(one) for one in claimed])
            claimed = hands.take(house.me)
        hands.put(house.me, *[fails()(one) for one in claimed])
        assert hands.take(house.me) == []
        left = Step.everywhere.annotate(left=F("not_before") - Now()).get(run=run, kind="call").left
        pauses.append(left.total_seconds())
    assert 70 < pauses[0] <= 125 < 145 < pauses[1] <= 250


def test_s7_no_pause_is_unbounded():
    assert max(retry.pause(2.0**31, failures) for failures in range(40)) <= retry.LONGEST_PAUSE * 1.25
    assert len({retry.pause(10, 3) for _ in range(20)}) > 10, "with jitter"


@pytest.mark.parametrize(
    ("values", "code", "attempts"),
    [
        ({"fatal_codes": ["no_such_file"]}, "no_such_file", 1),
        ({"retryable_codes": ["busy"]}, "no_such_file", 1),
        ({"retryable_codes": ["busy"]}, "busy", 3),
        ({"max_attempts": 1}, "busy", 1),
        ({"max_attempts": 5}, "busy", 5),
        ({"max_attempts": 10_000}, "busy", 20),
        ({"attempt_cost": "0.5"}, "busy", 1),
        ({"attempt_tokens": 99}, "busy", 1),
        ({"attempt_cost": "0.7", "attempt_tokens": 100}, "busy", 3),
    ],
)
def test_s7_the_contract_says_what_is_worth_another_try(house, values, code, attempts):
    """Guards runs/engine/retry.py: codes, attempts, and what one attempt may use. Nothing asks for more than 20."""
    run = house.counted(1)
    declared(run, backoff_seconds=0, **values)
    step = tried(house, run, fails(code, tokens=100, cost="0.6"), rounds=24)
    assert (step.status, step.attempt) == ("FAILED", attempts)


def test_s7_all_tries_together_have_a_time(house):
    """Guards runs/engine/given_back.py `settle`: the next try would start after `max_total_seconds`, so there is none."""
    run = house.counted(1)
    declared(run, max_attempts=9, max_total_seconds=60, backoff_seconds=0)
    assert tried(house, run, fails(), rounds=3).status == "PENDING"
    Step.everywhere.filter(run=run, kind="call").update(deadline=F("deadline") - timedelta(seconds=61))
    step = tried(house, run, fails(), rounds=2)
    assert step.status == "FAILED"
    assert step.attempt < 9
    assert make.again(run).status == "SUCCEEDED"
    assert timeline.verify(run.pk) == []


def test_s7_what_was_only_given_back_counts_as_no_try(house):
    """Guards runs/engine/commit.py `verdict`: a drain is neither failure nor loss."""
    run = house.counted(1)
    step = tried(house, run, fails("not_started", ending="drained"))
    assert (step.status, step.failures, step.losses) == ("PENDING", 0, 0)
    assert step.attempt > 5
    assert make.again(run).spent.get("tool_calls", 0) == 0


def test_s7_the_agent_cannot_ask_for_more(house):
    """Guards runs/engine/planner.py: a directive has no say in it, whatever it carries."""
    run = house.counted(1)
    greedy = {
        "max_attempts": 99,
        "backoff_seconds": 0,
        "max_total_seconds": 10**9,
        "timeout": 10**6,
        "failures": -5,
    }

    def act(claimed: Claimed) -> Outcome:
        if claimed.kind == "plan" and not Step.everywhere.filter(run=run, kind="call").exists():
            said = {"do": "call", "key": "count/1", "tool": "drill.noop", "arguments": greedy, **greedy}
            return Outcome(claimed, "succeeded", plan=Plan(claimed.version, [said]))
        failed: Outcome = fails()(claimed)
        return failed

    step = tried(house, run, act)
    assert (step.status, step.attempt, step.timeout_seconds) == ("FAILED", 3, 60)


def test_s7_another_tool_stands_in(house):
    """Guards runs/engine/given_back.py `stand_in`: the step goes on under its own key with the tool that its contract
    names, and tries are counted anew."""
    run = house.counted(1)
    declared(run, max_attempts=2, backoff_seconds=0, fallback_tool="drill.pid")

    def act(claimed: Claimed) -> Outcome:
        failed: Outcome = fails()(claimed)
        return failed if claimed.tool == "drill.noop" else hands.done(claimed, {"pid": 7})

    step = tried(house, run, act)
    assert (step.status, step.key, step.tool, step.output) == (
        "SUCCEEDED",
        "count/1",
        "drill.pid",
        {"pid": 7},
    )
    assert Event.everywhere.get(run=run, type="step.stood_in").payload["from"] == "drill.noop"
    assert make.again(run).status == "SUCCEEDED"
    assert timeline.verify(run.pk) == []


@pytest.mark.parametrize("other", ["drill.effect", "nobody.knows.it", "mail.send"])
def test_s7_only_a_read_only_tool_of_the_agent_stands_in(house, other):
    run = house.counted(1)
    declared(run, max_attempts=1, fallback_tool=other)
    step = tried(house, run, fails(), rounds=4)
    assert (step.status, step.tool) == ("FAILED", "drill.noop")
    assert not Intent.everywhere.exists()


def test_s7_two_tools_do_not_stand_in_for_each_other_for_ever(house):
    run = house.counted(1)
    declared(run, max_attempts=1, fallback_tool="drill.pid")
    declared(run, "drill.pid", max_attempts=1, fallback_tool="drill.noop")
    step = tried(house, run, fails(), rounds=4)
    assert (step.status, step.attempt) == ("FAILED", 1)


def test_s7_a_person_takes_over_where_the_contract_says_so(house):
    """Guards runs/engine/given_back.py `gave_up`, and S11: the page has what failed, with what, and how to go on."""
    run = house.counted(2)
    declared(run, max_attempts=1, last_resort="take_over")
    tried(house, run, fails(), rounds=3)
    assert make.again(run).status == "WAITING_APPROVAL"
    asked = house.action(run, "take_over")
    from approvals import shown

    facts = shown.read(asked.shown)["facts"]
    assert facts["code"] == "gave_up"
    assert (facts["failed"]["key"], facts["failed"]["code"], facts["failed"]["attempts"]) == (
        "count/1",
        "no_answer",
        1,
    )
    assert facts["suggestion"]
    assert facts["entry"]
    house.answer(run, "continue", kind="take_over")
    hands.run_all(house.me)
    assert make.again(run).status == "SUCCEEDED"


def test_b03_a_step_that_always_dies_fails_after_three_losses(house):
    """Guards runs/engine/commit.py `verdict`: losses are counted in the row; other runs keep moving, and so does this
    one. (With real processes and their memory limit: tests/runs/node/test_node.py.)"""
    poison, other = house.counted(1, tool="drill.starve"), house.counted(2)

    def act(claimed: Claimed) -> Outcome:
        dies = claimed.tool == "drill.starve"
        return Outcome(claimed, "lost", error_code="worker_lost") if dies else hands.done(claimed)

    for _ in range(8):
        hands.put(house.me, *[act(one) for one in hands.take(house.me)])
    step = Step.everywhere.get(run=poison, kind="call")
    assert (step.status, step.losses, step.failures, step.attempt) == ("FAILED", 3, 0, 3)
    assert {make.again(run).status for run in (poison, other)} == {"SUCCEEDED"}


def test_b03_an_effect_whose_sender_always_dies_is_asked_about(house):
    """Guards runs/engine/record.py `lose`: once it was begun nobody knows, so it is neither counted nor tried again."""
    run = house.counted(1, tool="drill.effect")
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    claimed, go = begun(house, run)
    hands.put(house.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    assert Step.everywhere.get(run=run, kind="call").status == "UNKNOWN"
    assert house.action(run, "settle").status == "OPEN"
    assert hands.take(house.me) == []


def begun(house: make.House, run: Run) -> tuple[Claimed, Go]:
    Step.everywhere.filter(run=run, status="PENDING").update(not_before=Now())
    (claimed,) = hands.take(house.me)
    go = begin(claimed=claimed, worker_id=house.me.pk, sender=new_id(), pid=77)
    assert isinstance(go, Go)
    return claimed, go


def test_s7_an_effect_that_may_be_repeated_pauses_and_ends(house):
    """Guards runs/engine/record.py `_failed`: the same rules, under the same key."""
    run = house.counted(1, tool="drill.effect_keyed")
    declared(run, "drill.effect_keyed", backoff_seconds=100, max_attempts=2)
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    claimed, go = begun(house, run)
    hands.put(house.me, Outcome(claimed, "failed", error_code="busy", dispatch_id=go.dispatch_id))
    assert hands.take(house.me) == [], "not before its pause is over"
    claimed, again = begun(house, run)
    assert again.key == go.key
    hands.put(house.me, Outcome(claimed, "failed", error_code="busy", dispatch_id=again.dispatch_id))
    step = Step.everywhere.get(run=run, kind="call")
    assert (step.status, step.attempt, Intent.everywhere.get().status) == ("FAILED", 2, "VOIDED")
    assert make.again(run).spent["tool_calls"] == 2


def test_o3_what_cannot_be_undone_is_never_tried_again_by_itself(house):
    """Guards runs/engine/retry.py `_repeatable`: not even if its contract asks for it."""
    irreversible = bench.unsaved(
        effect_class="irreversible", retry_safe=True, native_idempotency=True, max_attempts=9
    )
    outcome = Outcome(None, "failed", error_code="busy")  # type: ignore[arg-type]
    assert retry.after(irreversible, outcome, failures=0) is None
    run = waiting_mail(house)
    claimed, go = house.sending(run)
    hands.put(house.me, Outcome(claimed, "failed", error_code="smtp_try_later", dispatch_id=go.dispatch_id))
    step = Step.everywhere.get(pk=claimed.step_id)
    assert (step.status, step.attempt) == ("FAILED", 1)
    assert PendingAction.everywhere.filter(run_id=run.pk, kind="approve").count() == 1


def waiting_mail(house: make.House) -> Run:
    mail = {"to": "legal@halden.example", "subject": "Notice", "text": "We do not renew."}
    run = house.counted(1, tool="mail.send", arguments=mail)
    hands.run_all(house.me)
    return run


@pytest.mark.parametrize(("entry", "ends"), [("after", "SUCCEEDED"), ("ask", "FAILED")])
def test_s11_a_person_chooses_where_a_run_goes_on(house, entry, ends):
    """Guards runs/engine/taken_over.py `_leave_out` and runs/sql/run_contexts.sql: after the step that failed, the next
    one runs and nothing is done again; told of the failure, the agent that only follows its list ends."""
    calls = [{"tool": "drill.pid"}, {"tool": "drill.noop"}, {"tool": "drill.sleep"}]
    run, _ = submit(
        tenant_id=house.tenant.pk,
        submitter_id=house.ada.pk,
        agent="steps",
        goal="Three in a row",
        input={"steps": calls},
        submit_key=new_id().hex,
    )
    declared(run, max_attempts=1, last_resort="take_over")
    done: list[str] = []

    def act(claimed: Claimed) -> Outcome:
        if claimed.kind != "plan":
            done.append(claimed.tool)
        return fails()(claimed) if claimed.tool == "drill.noop" else hands.done(claimed)

    hands.run_all(house.me, act)
    asked = house.action(run, "take_over")
    for wrong in ({"entry": "elsewhere"}, {"entry": "after", "more": 1}, "after"):
        with pytest.raises(errors.BadAnswer, match="Choose one of the places"):
            house.answer(run, "continue", kind="take_over", answer=wrong)
    house.answer(run, "continue", kind="take_over", answer={"entry": entry})
    hands.run_all(house.me, act)
    assert make.again(run).status == ends
    assert done == ["drill.pid", "drill.noop", *(["drill.sleep"] if entry == "after" else [])]
    assert PendingAction.everywhere.get(pk=asked.pk).status == "ANSWERED"
    assert timeline.verify(run.pk) == []
