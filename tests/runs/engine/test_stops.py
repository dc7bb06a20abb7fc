"""Stop switches: claim and begin obey at once, what waits is kept, and it goes on by itself when the stop is lifted."""

from __future__ import annotations

from typing import Any

import pytest

from accounts import audit
from accounts.errors import Refused
from accounts.models import AuditEntry, Role
from runs import timeline
from runs.engine import unblock as unblocking
from runs.engine.cancel import cancel
from runs.engine.halt import halt, let_go_on
from runs.engine.types import Go, Outcome, Stop
from runs.engine.unblock import unblock
from runs.errors import AlreadyEnded
from runs.models import Event, Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import pauses, samples, switches
from tools.models import Intent, StopSwitch, Tool

pytestmark = pytest.mark.django_db(transaction=True)

WHY = "The bank called."


class House:
    """Two tenants; in ours one effect that nobody is asked about and one look that only reads, both about to begin."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        make.person(self.tenant, Role.APPROVER)
        self.submitter = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        self.jonas = make.person(self.tenant, Role.ADMINISTRATOR, name="Jonas Weber")
        samples.seed(self.tenant)
        self.me = hands.worker()
        self.run = self.planned("effect", "drill.effect")
        self.tool = Tool.everywhere.get(tenant=self.tenant, name="drill.effect")

    def planned(self, key: str, tool: str) -> Run:
        one = {"do": "call", "key": key, "tool": tool, "arguments": {"amount": 1}}
        made = hands.script_run(self.tenant, self.submitter, [one])
        (plan,) = [step for step in hands.take(self.me) if step.kind == "plan"]
        hands.put(self.me, hands.done(plan))
        return made

    def stop(self, scope: str) -> bool:
        match scope:
            case "tenant":
                return switches.stop_tenant(tenant_id=self.tenant.pk, by=self.jonas.pk, reason=WHY)
            case "run":
                return halt(run_id=self.run.pk, user_id=self.jonas.pk, reason=WHY)
            case _:
                return pauses.pause(tool_id=self.tool.pk, by=self.jonas.pk, reason=WHY)

    def lift(self, scope: str) -> bool:
        match scope:
            case "tenant":
                done = switches.lift_tenant(tenant_id=self.tenant.pk, by=self.jonas.pk)
            case "run":
                return let_go_on(run_id=self.run.pk, user_id=self.jonas.pk)
            case _:
                done = pauses.go_on(tool_id=self.tool.pk, by=self.jonas.pk)
        unblock()
        return done

    def taken(self) -> dict[str, Any]:
        return {one.key: one for one in hands.take(self.me)}


@pytest.fixture
def house() -> House:
    return House()


SCOPES = ["tenant", "run", "tool"]


@pytest.mark.parametrize("scope", SCOPES)
def test_b62_begin_obeys_at_once_and_it_goes_on_when_lifted(house, scope):
    """Guards runs/engine/begin.py `_refused`: a stop that was set after the claim holds the effect back, with reason and
    name; when it is lifted the step goes on by itself."""
    claimed = house.taken()["effect"]
    assert house.stop(scope) is True
    answer = hands.asked(house.me, claimed)
    assert isinstance(answer, Stop)
    assert "Jonas Weber" in answer.text
    assert WHY in answer.text
    step = Step.everywhere.get(run=house.run, key="effect")
    assert step.status == "WAITING_EXTERNAL"
    assert Intent.everywhere.get(pk=step.intent_id).verdict["path"] == "blocked"
    assert unblock() == 0
    assert house.lift(scope) is True
    assert isinstance(hands.asked(house.me, house.taken()["effect"]), Go)
    assert Intent.everywhere.get(pk=step.intent_id).verdict["path"] == "auto"


@pytest.mark.parametrize("scope", ["tenant", "run"])
def test_claim_obeys_at_once(house, scope):
    """Guards runs/sql/claim_steps.sql `stopped`: of a stopped tenant or run nothing is taken, not even a plan."""
    house.stop(scope)
    assert house.taken() == {}
    other = House()
    assert set(other.taken()) == {"effect"}
    house.lift(scope)
    assert set(house.taken()) == {"effect"}


def test_claim_leaves_calls_of_a_stopped_tool_that_only_read(house):
    """Guards runs/sql/claim_steps.sql: reads of the tool stay, those of another go on."""
    house.planned("look", "drill.noop")
    tool = Tool.everywhere.get(tenant=house.tenant, name="drill.noop")
    pauses.pause(tool_id=tool.pk, by=house.jonas.pk, reason=WHY)
    assert "look" not in house.taken()
    pauses.go_on(tool_id=tool.pk, by=house.jonas.pk)
    assert "look" in house.taken()


@pytest.mark.parametrize("scope", ["tenant", "run", "tool"])
def test_a_commit_under_a_stop_takes_nothing_with_it(house, scope):
    """Guards runs/engine/commit.py `_go_on`: the next step is not begun in passing."""
    looks: list[dict[str, Any]] = [
        {"do": "call", "key": key, "tool": "drill.noop", "arguments": {}} for key in ("one", "two")
    ]
    house.run = hands.script_run(house.tenant, house.submitter, looks[:1], looks[1:])
    house.tool = Tool.everywhere.get(tenant=house.tenant, name="drill.noop")
    plan = next(one for one in hands.take(house.me) if one.kind == "plan")
    first = next(
        one for one in hands.put(house.me, hands.done(plan), room={"io": 9}).next if one.key == "one"
    )
    house.stop(scope)
    assert hands.put(house.me, hands.done(first), room={"io": 9}).next == []
    while plans := [one for one in hands.take(house.me) if one.kind == "plan"]:
        assert scope == "tool"
        assert hands.put(house.me, *map(hands.done, plans), room={"io": 9}).next == []
    house.lift(scope)
    assert house.taken()


@pytest.mark.parametrize("scope", ["run", "tool"])
def test_what_is_planned_under_a_stop_waits_and_does_not_fail(house, scope):
    """Guards runs/engine/planner.py `_effect`: a plan is judged by the rules, and the switch holds up its steps."""
    again = {"do": "call", "key": "again", "tool": "drill.effect", "arguments": {}}
    run = hands.script_run(house.tenant, house.submitter, [again])
    (plan,) = [one for one in hands.take(house.me) if one.kind == "plan"]
    house.run = run
    house.stop(scope)
    hands.put(house.me, hands.done(plan))
    for _round in range(5):
        for one in hands.take(house.me):
            if one.kind == "plan":
                hands.put(house.me, hands.done(one))
            else:
                assert isinstance(hands.asked(house.me, one), Stop)
    failed = Step.everywhere.filter(run=run, status="FAILED")
    assert not failed.exists()
    house.lift(scope)
    hands.run_all(house.me, lambda one: hands.done(one) if one.kind == "plan" else hands.sent(house.me, one))
    assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"


def test_the_stop_of_a_run_is_in_its_history_and_in_the_audit(house):
    assert halt(run_id=house.run.pk, user_id=house.jonas.pk, reason=WHY) is True
    assert halt(run_id=house.run.pk, user_id=house.jonas.pk, reason="Again.") is False
    (one,) = switches.standing(tenant_id=house.tenant.pk)
    assert (one.scope, one.reason, one.by, one.run_id) == ("run", WHY, "Jonas Weber", house.run.pk)
    assert let_go_on(run_id=house.run.pk, user_id=house.jonas.pk) is True
    assert let_go_on(run_id=house.run.pk, user_id=house.jonas.pk) is False
    told = Event.everywhere.filter(run=house.run, type__in=["run.stopped", "run.lifted"])
    assert [event.actor for event in told] == [f"user:{house.jonas.pk.hex}"] * 2
    acts = AuditEntry.everywhere.filter(tenant=house.tenant, act__startswith="switch.")
    assert [row.act for row in acts.order_by("sequence")] == ["switch.set", "switch.lifted"]
    assert audit.verify(tenant_id=house.tenant.pk) == []
    assert timeline.verify(house.run.pk) == []


def test_a_stop_needs_a_reason_and_a_run_that_lives(house):
    with pytest.raises(Refused):
        switches.stop_tenant(tenant_id=house.tenant.pk, by=house.jonas.pk, reason="  ")
    with pytest.raises(Refused):
        halt(run_id=house.run.pk, user_id=house.jonas.pk, reason="")
    cancel(run_id=house.run.pk, user_id=house.submitter.pk)
    with pytest.raises(AlreadyEnded):
        halt(run_id=house.run.pk, user_id=house.jonas.pk, reason=WHY)
    assert not StopSwitch.everywhere.exists()


def test_a_stopped_run_can_still_be_cancelled(house):
    house.stop("run")
    cancel(run_id=house.run.pk, user_id=house.submitter.pk)
    assert Run.everywhere.get(pk=house.run.pk).status == "CANCELLED"


def test_what_is_under_way_is_counted_and_still_recorded(house):
    """Guards tools/switches.py `sending`: a stop says what it does not call back."""
    claimed = house.taken()["effect"]
    go = hands.asked(house.me, claimed)
    assert isinstance(go, Go)
    house.stop("tenant")
    assert switches.sending(tenant_id=house.tenant.pk) == 1
    assert switches.sending(tenant_id=house.tenant.pk, run_id=house.run.pk, tool="drill.effect") == 1
    assert switches.sending(tenant_id=House().tenant.pk) == 0
    ended = Outcome(
        claimed, "succeeded", {}, plan=hands.planned(claimed, output={}), dispatch_id=go.dispatch_id
    )
    hands.put(house.me, ended)
    assert Intent.everywhere.get(pk=claimed.intent_id).status == "CONFIRMED"
    assert switches.sending(tenant_id=house.tenant.pk) == 0


def test_what_is_still_stopped_does_not_stand_in_the_way_of_others(house, monkeypatch):
    """Guards runs/engine/unblock.py: the first page of held steps is not all that is looked at."""
    monkeypatch.setattr(unblocking, "PAGE", 1)
    held = []
    for one in (house, None):
        held.append(one or House())
        claimed = held[-1].taken()["effect"]
        held[-1].stop("tenant")
        assert isinstance(hands.asked(held[-1].me, claimed), Stop)
    other = held[-1]
    switches.lift_tenant(tenant_id=other.tenant.pk, by=other.jonas.pk)
    assert unblock(limit=1) == 1
    assert Step.everywhere.get(run=house.run, key="effect").status == "WAITING_EXTERNAL"
    assert Step.everywhere.get(run=other.run, key="effect").status == "PENDING"


def test_b33_the_second_of_two_gated_effects_never_starts_after_a_cancel(house):
    """Guards runs/engine/begin.py `_begin`, `run.lives_for`: a run that is cancelled between two effects lets nothing more
    go, although the second is claimed, and allowed, already."""
    both: list[dict[str, Any]] = [
        {"do": "call", "key": key, "tool": "drill.effect", "arguments": {}} for key in ("first", "second")
    ]
    run = hands.script_run(house.tenant, house.submitter, both)
    (plan,) = [one for one in hands.take(house.me) if one.kind == "plan"]
    hands.put(house.me, hands.done(plan))
    claimed = house.taken()
    first = hands.asked(house.me, claimed["first"])
    assert isinstance(first, Go)
    cancel(run_id=run.pk, user_id=house.submitter.pk)
    assert isinstance(hands.asked(house.me, claimed["second"]), Stop)
    told = Intent.everywhere.get(pk=claimed["second"].intent_id)
    assert told.dispatches == 0
    ended = Outcome(
        claimed["first"],
        "succeeded",
        {},
        plan=hands.planned(claimed["first"], output={}),
        dispatch_id=first.dispatch_id,
    )
    hands.put(house.me, ended)
    assert Intent.everywhere.get(pk=claimed["first"].intent_id).status == "CONFIRMED"
    assert house.taken() == {}
