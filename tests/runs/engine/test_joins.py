"""Joins and the order of steps: a result counts only if what it was made from still is the accepted output (L13); a plan
that contradicts itself is a takeover, never a stuck run."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.db import transaction
from django.db.models import F

from accounts.ids import new_id
from approvals.models import PendingAction
from runs import timeline
from runs.engine.begin import begin
from runs.engine.ending import lock_step, next_fence
from runs.engine.record import settle_down
from runs.engine.types import Claimed, Outcome, Plan, Stop
from runs.engine.workspace import locked_one
from runs.models import Event, Run, Step, StepDependency
from tests.make import runs as make
from tests.runs.engine import hands
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

MAIL = {"to": "legal@halden.example", "subject": "Notice", "text": "We do not renew."}


@pytest.fixture
def house() -> make.House:
    return make.house()


def call(key: str, tool: str = "drill.noop", **more: Any) -> dict[str, Any]:
    return {"do": "call", "key": key, "tool": tool, "arguments": MAIL if tool == "mail.send" else {}, **more}


def planned(house: make.House, *directives: Any, **given: Any) -> Run:
    """A run whose first plan says this."""
    run = house.counted(**given)
    (first,) = hands.take(house.me)
    hands.put(house.me, Outcome(first, "succeeded", None, plan=Plan(first.version, list(directives))))
    return make.again(run)


def ok(claimed: Claimed, output: Any = None) -> Outcome:
    return Outcome(claimed, "succeeded", output or {"from": claimed.key})


def work(house: make.House, *keys: str) -> dict[str, Claimed]:
    """Claims what can be claimed and ends the steps of these keys; gives the others. Plans say nothing new."""
    held = {}
    for claimed in hands.take(house.me):
        if claimed.key in keys:
            hands.put(house.me, ok(claimed))
        elif claimed.kind == "plan":
            hands.put(house.me, Outcome(claimed, "succeeded", None, plan=Plan(claimed.version, [])))
        else:
            held[claimed.key] = claimed
    return held


def step(run: Run, key: str) -> Step:
    found: Step = Step.everywhere.get(run=run, key=key)
    return found


def made_again(run: Run, key: str, output: Any) -> None:
    """The step's output is exchanged for that of a newer execution, as when a lost file is made again."""
    with transaction.atomic():
        workspace, locked = locked_one(run.pk)
        assert locked is not None
        assert lock_step(step(run, key).pk)
        Step.everywhere.filter(pk=step(run, key).pk).update(output=output, fence=next_fence())
        settle_down(workspace)


JOIN = (call("a"), call("b"), call("join", inputs=["a", "b"]))


def test_a_join_waits_for_its_inputs_and_notes_under_which_fence_it_read_them(house):
    """Guards `step_inputs.sql` and `dependencies.needs`: an input is a dependency, and its fence is written beside it."""
    run = planned(house, *JOIN, steps=3)
    assert step(run, "join").held
    work(house, "a", "b")
    held = work(house)
    assert orjson.loads(held["join"].arguments)["inputs"] == {"a": {"from": "a"}, "b": {"from": "b"}}
    noted = StepDependency.objects.filter(step__run=run).values_list("consumed_fence", "needs__fence")
    assert [consumed == fence for consumed, fence in noted] == [True, True]


def test_a_join_of_which_an_input_was_made_again_is_run_again(house):
    """L13. Guards `finish_steps.sql`: the fence of each input is compared in the transaction that accepts the result."""
    run = planned(house, *JOIN, steps=3)
    work(house, "a", "b")
    join = work(house)["join"]
    made_again(run, "a", {"from": "a again"})
    assert not hands.put(house.me, ok(join, {"made of": "old"})).refused
    back = step(run, "join")
    assert (back.status, back.output, back.failures, back.losses) == ("PENDING", None, 0, 0)
    assert Event.everywhere.filter(run=run, type="step.inputs_changed").count() == 1
    again = work(house)["join"]
    assert orjson.loads(again.arguments)["inputs"]["a"] == {"from": "a again"}
    hands.put(house.me, ok(again, {"made of": "new"}))
    assert (step(run, "join").status, step(run, "join").output) == ("SUCCEEDED", {"made of": "new"})
    assert timeline.verify(run.pk) == []


def test_an_effect_made_from_an_input_that_changed_is_not_begun(house):
    """L13. Guards `begin`: what would be sent was made from an output that is not the accepted one any more."""
    run = planned(house, call("a"), call("send", "drill.effect", inputs=["a"]), steps=2, tool="drill.effect")
    work(house, "a")
    send = work(house)["send"]
    made_again(run, "a", {"from": "a again"})
    stopped = begin(claimed=send, worker_id=house.me.pk, sender=new_id(), pid=7)
    assert isinstance(stopped, Stop)
    assert stopped.code == "inputs_changed"
    assert (step(run, "send").status, Intent.everywhere.get(run_id=run.pk).dispatches) == ("PENDING", 0)


def test_what_comes_after_something_that_ended_already_starts_at_once(house):
    """Guards `dependencies.readiness`: nothing would wake it, because what it waits for has ended before it was planned."""
    run = planned(house, call("a"), steps=2)
    (a,) = hands.take(house.me)
    later = [call("b", after={"a": "succeeded"}), call("c", after={"a": "ended"})]
    hands.put(house.me, Outcome(a, "succeeded", {}, plan=Plan(a.version, later)))
    assert [step(run, key).held for key in "bc"] == [False, False] or sorted(work(house)) == ["b", "c"]


def test_what_comes_after_something_that_failed_already_ends_and_the_agent_hears_it(house):
    run = planned(house, call("a"), steps=2)
    (a,) = hands.take(house.me)
    plan = Plan(a.version, [call("b", after={"a": "succeeded"})])
    hands.put(house.me, Outcome(a, "cancelled", plan=plan))
    assert (step(run, "b").status, step(run, "b").error_code) == ("CANCELLED", "dependency_not_met")
    (again,) = hands.take(house.me)
    assert again.kind == "plan"
    ended = {view["key"]: view["status"] for view in orjson.loads(again.context)["recent"]}
    assert ended == {"a": "CANCELLED", "b": "CANCELLED"}


def test_an_effect_that_waits_for_a_person_and_for_a_step_starts_when_both_are_there(house):
    """Guards `planner._effect`: an approval does not stand in for what has to be done before."""
    run = planned(house, call("a"), call("mail", "mail.send", after={"a": "succeeded"}), steps=2)
    house.answer(run, "approve")
    assert (step(run, "mail").status, step(run, "mail").held) == ("PENDING", True)
    (a,) = hands.take(house.me)
    assert a.key == "a"
    hands.put(house.me, ok(a))
    assert "mail" in work(house)


def test_a_question_about_a_step_that_can_never_start_is_withdrawn(house):
    """Guards `release._never` (B57): what it waits for was cancelled, so nobody is asked any more."""
    run = planned(house, call("a"), call("mail", "mail.send", after={"a": "succeeded"}), steps=2)
    (a,) = hands.take(house.me)
    hands.put(house.me, Outcome(a, "cancelled"))
    assert step(run, "mail").status == "CANCELLED"
    assert house.action(run).status == "WITHDRAWN"
    assert Intent.everywhere.get(run_id=run.pk).status == "VOIDED"


NONSENSE: dict[str, list[Any]] = {
    "waits for itself": [call("a", after={"a": "ended"})],
    "a ring": [call("a", after={"b": "ended"}), call("b", inputs=["c"]), call("c", after={"a": "succeeded"})],
    "waits for nobody": [call("a", after={"missing": "succeeded"})],
    "an input that is not there": [call("a", inputs=["missing"])],
    "a rule that is none": [call("a", after={"plan/1": "perhaps"})],
    "after is a list": [call("a", after=["b"])],
    "inputs are a number": [call("a", inputs=7)],
    "arguments are a list": [{**call("a"), "arguments": [1]}],
    "the key is empty": [call("")],
    "the key is a number": [{**call("a"), "key": 7}],
    "the key is too long": [call("k" * 201)],
    "no tool": [{"do": "call", "key": "a"}],
    "an unknown tool": [call("a", "tools.none")],
    "no directive": ["finish", 7, None],
    "a result that is a list": [{"do": "finish", "result": [1]}],
    "an end with work": [call("a"), {"do": "finish", "result": {}}],
    "nothing": [],
}


@pytest.mark.parametrize("what", NONSENSE)
def test_a_plan_that_contradicts_itself_is_a_takeover(house, what):
    """Guards `planner.apply` and `dependencies.contradiction`: the outcome is recorded, and a person is asked."""
    run = house.counted(steps=2)
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    (claimed,) = hands.take(house.me)
    outcome = Outcome(claimed, "succeeded", {"n": 1}, plan=Plan(claimed.version, NONSENSE[what]))
    assert not hands.put(house.me, outcome).refused
    assert step(run, claimed.key).output == {"n": 1}
    for left in hands.take(house.me):
        hands.put(house.me, ok(left))
    found = Run.everywhere.get(pk=run.pk)
    assert (found.status, found.finished_at) == ("WAITING_APPROVAL", None)
    assert PendingAction.everywhere.get(run_id=run.pk, status="OPEN").kind == "take_over"
    house.answer(found, "continue", kind="take_over")
    house.finish()
    assert make.again(found).status == "SUCCEEDED"
    assert timeline.verify(run.pk) == []


def test_a_key_that_comes_again_with_other_content_keeps_the_first_and_records_the_drift(house):
    """L9. In one plan and in the next."""
    run = planned(house, call("a"), {**call("a"), "arguments": {"n": 2}}, steps=2)
    (a,) = hands.take(house.me)
    other = {**call("a"), "arguments": {"n": 3}}
    hands.put(
        house.me, Outcome(a, "succeeded", {}, plan=Plan(a.version, [other, {"do": "finish", "result": {}}]))
    )
    assert Step.everywhere.filter(run=run, key="a").count() == 1
    assert Event.everywhere.filter(run=run, type="step.drift").count() == 2
    assert make.again(run).status == "SUCCEEDED"


def test_a_plan_made_against_an_old_version_is_asked_for_again(house):
    """Guards `finish_steps.sql`: directives count only at the version that they were made for."""
    run = house.counted(steps=2)
    (plan,) = hands.take(house.me)
    Run.everywhere.filter(pk=run.pk).update(version=F("version") + 1)
    hands.put(house.me, Outcome(plan, "succeeded", None, plan=Plan(plan.version, [call("old")])))
    assert not Step.everywhere.filter(run=run, key="old").exists()
    (again,) = hands.take(house.me)
    assert (again.kind, again.version) == ("plan", make.again(run).version)
