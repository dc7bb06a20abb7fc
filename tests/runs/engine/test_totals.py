"""Totals over the calls of a run: an amount that is split does not slip under, in whatever order its parts are sent."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.ids import new_id
from accounts.models import Role
from approvals.decide import decide
from approvals.models import PendingAction
from runs.engine.begin_many import Asked, begin_many
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Go, Stop
from runs.models import Run, Step
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.models import Contract, Intent

pytestmark = pytest.mark.django_db(transaction=True)

TOTAL = {"argument": "amount", "total_over": "1000.00", "then": "approval", "why": "Much money."}


def pay(key: str, amount: Any, tool: str = "drill.effect") -> dict[str, Any]:
    return {"do": "call", "key": key, "tool": tool, "arguments": {"amount": amount}}


class House:
    """A tenant whose effects ask nobody until a rule does."""

    def __init__(self, **policy: Any) -> None:
        self.tenant = make.tenant()
        self.approver = make.person(self.tenant, Role.APPROVER)
        self.second = make.person(self.tenant, Role.APPROVER, name="Mira Sandoval")
        self.submitter = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        samples.seed(self.tenant)
        self.me = hands.worker()
        if policy:
            self.rule(policy)

    def rule(self, policy: dict[str, Any], tool: str = "drill.effect") -> None:
        """Another version of the tool is in force, with this policy."""
        samples_of = Contract.everywhere.get(tenant=self.tenant, tool__name=tool, status="PUBLISHED")
        declared = {
            name: getattr(samples_of, name)
            for name in ("adapter", "target", "effect_class", "compensating_tool", "isolation", "concerns")
        }
        make.contract(self.tenant, tool, **declared, policy=policy)

    def run(self, *rounds: list[dict[str, Any]]) -> Run:
        """A run whose first round is planned."""
        made = hands.script_run(self.tenant, self.submitter, *rounds)
        (plan,) = [one for one in hands.take(self.me) if one.kind == "plan"]
        hands.put(self.me, hands.done(plan))
        return made

    def taken(self) -> dict[str, Claimed]:
        return {one.key: one for one in hands.take(self.me)}

    def approve(self, key: str) -> None:
        action = PendingAction.everywhere.get(step_id=self.step(key).pk, status="OPEN")
        decide(
            action_id=action.pk,
            user_id=self.approver.pk,
            verdict="approve",
            digest=action.digest,
            generation=action.generation,
            channel="web",
            authenticated="session",
            fresh=True,
            gesture=action.second_gesture,
        )
        resume_decided()

    @staticmethod
    def step(key: str) -> Step:
        found: Step = Step.everywhere.select_related("intent").get(key=key)
        return found

    @staticmethod
    def statuses() -> dict[str, str]:
        return dict(Step.everywhere.exclude(kind="plan").values_list("key", "status"))


def test_what_a_plan_splits_is_added_up():
    """Guards tools/policy.py `_total` and runs/engine/planner.py: the calls of one plan count for each other."""
    house = House(rules=[TOTAL])
    house.run([pay("a", "600.00"), pay("b", "400.00"), pay("c", "0.01")])
    assert house.statuses() == {"a": "PENDING", "b": "PENDING", "c": "WAITING_APPROVAL"}
    action = PendingAction.everywhere.get(step_id=house.step("c").pk)
    (reason,) = action.policy["reasons"]
    assert reason["params"] == {
        "why": "Much money.",
        "before": "1000.00",
        "now": "1000.01",
        "most": "1000.00",
    }


@pytest.mark.parametrize(
    "end", ["PROPOSED", "DISPATCHED", "UNKNOWN", "CONFIRMED", "COMPENSATED", "ABANDONED"]
)
def test_whatever_may_have_happened_counts(end):
    """Guards tools/sql/earlier_calls.sql: which states count."""
    house = House(rules=[TOTAL])
    house.run([pay("a", 600), pay("b", 500)])
    sent = {"dispatch_id": new_id(), "unknown_since": "2026-01-01T00:00Z"}
    Intent.everywhere.filter(pk=house.step("a").intent_id).update(status=end, **sent)
    assert totals_of(house, 500) == Decimal(600 + 500)


@pytest.mark.parametrize("end", ["REJECTED", "VOIDED"])
def test_what_did_not_happen_does_not_count(end):
    house = House(rules=[TOTAL])
    house.run([pay("a", 600), pay("b", 500)])
    Intent.everywhere.filter(pk=house.step("a").intent_id).update(status=end)
    assert totals_of(house, 500) == Decimal(500)


def totals_of(house: House, amount: int) -> Decimal | None:
    """The total of the second call, as begin would see it."""
    from tools import policy, totals

    step = house.step("b")
    contract = Contract.everywhere.select_related("tool").get(
        tenant=house.tenant, tool__name="drill.effect", status="PUBLISHED"
    )
    assert step.intent is not None
    before = totals.earlier(
        tenant_id=house.tenant.pk,
        tool="drill.effect",
        policy=contract.policy,
        run_id=step.run_id,
        key=step.intent.key,
    )
    zero = {"rules": [{**TOTAL, "total_over": "0"}]}
    (one,) = policy.apply(zero, {"amount": amount}, tool="drill.effect", earlier=before).approval
    assert one.total is not None
    return one.total.now


def test_b62_a_total_is_judged_again_at_begin():
    """Guards runs/engine/begin.py `_refused`: a rule that came into force after the plan holds for what was planned
    before it; of two calls that are claimed already, one at most is sent, and the other asks a person."""
    house = House()
    house.run([pay("a", 600), pay("b", 600)])
    claimed = house.taken()
    house.rule({"rules": [TOTAL]})
    first, second = hands.asked(house.me, claimed["a"]), hands.asked(house.me, claimed["b"])
    assert [isinstance(one, Go) for one in (first, second)].count(True) <= 1
    assert isinstance(first, Stop)
    assert "1200" in first.text
    assert house.statuses()["a"] == "WAITING_APPROVAL"
    house.approve("a")
    assert isinstance(hands.asked(house.me, house.taken()["a"]), Go)


def test_b62_two_parallel_steps_do_not_both_slip_under():
    """Guards runs/engine/begin.py: begin holds the run, so that of two children that ask at the same moment the second is
    judged with what the first was let do."""
    house = House()
    run = house.run([pay("a", 600), pay("b", 600)])
    claimed = house.taken()
    house.rule({"rules": [TOTAL]})
    answers: dict[str, Go | Stop] = {}

    def ask(key: str) -> None:
        try:
            answers[key] = hands.asked(house.me, claimed[key])
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(key,)) for key in claimed]
    with transaction.atomic():
        Run.everywhere.select_for_update().get(pk=run.pk)
        for thread in threads:
            thread.start()
        wait_until_blocked(2)
    for thread in threads:
        thread.join()
    sent = Intent.everywhere.filter(run_id=run.pk, status="DISPATCHED")
    assert len(answers) == 2
    assert sum(Decimal(one.arguments["amount"]) for one in sent) <= 1000


def test_the_fast_path_judges_totals_as_well():
    """Guards runs/engine/begin_many.py `_decide`."""
    house = House()
    house.run([pay("a", 600), pay("b", 600)])
    claimed = house.taken()
    house.rule({"rules": [TOTAL]})
    asked = [Asked(claimed[key], new_id(), 77) for key in ("a", "b")]
    assert begin_many(worker_id=house.me.pk, asked=asked) == [None, None]


def test_b52_the_fast_path_compares_what_would_be_sent():
    """Guards runs/engine/begin_many.py `_decide`: `as_recorded`."""
    house = House()
    house.run([pay("a", 600)])
    Step.everywhere.filter(key="a").update(input={"arguments": {"amount": 6000}})
    claimed = house.taken()["a"]
    assert begin_many(worker_id=house.me.pk, asked=[Asked(claimed, new_id(), 77)]) == [None]


def test_b62_a_grant_from_before_the_total_grew_does_not_suffice():
    """Guards approvals/grants.py `_signers`: one person agreed; with what was sent meanwhile two must."""
    two = {"argument": "amount", "total_over": 1000, "then": "approval", "quorum": 2}
    one = {"argument": "amount", "over": 100, "then": "approval"}
    house = House(rules=[one, two])
    house.run([pay("a", 600), pay("b", 90)])
    house.approve("a")
    claimed = house.taken()
    assert set(claimed) == {"a", "b"}
    Intent.everywhere.filter(pk=house.step("b").intent_id).update(arguments={"amount": 500})
    answer = hands.asked(house.me, claimed["a"])
    assert isinstance(answer, Stop)
    assert "2 must agree now" in answer.text
    again = PendingAction.everywhere.get(step_id=house.step("a").pk, status="OPEN")
    assert (again.generation, again.policy["quorum"]) == (2, 2)


def test_a_total_of_a_day_counts_other_runs():
    """Guards tools/sql/earlier_calls.sql: the last 24 hours of the tenant, and of nobody else."""
    day = {**TOTAL, "per": "day"}
    other, house = House(rules=[day]), House(rules=[day])
    other.run([pay("x", 900)])
    house.run([pay("a", 600)])
    house.run([pay("b", 500)])
    asked = {key for key, status in house.statuses().items() if status == "WAITING_APPROVAL"}
    assert asked == {"b"}
    Intent.everywhere.update(created_at="2026-01-01T00:00Z")
    house.run([pay("c", 500)])
    assert house.statuses()["c"] == "PENDING"


def test_a_group_of_tools_has_one_total():
    house = House(rules=[{**TOTAL, "tools": ["drill.post"]}])
    house.run([pay("a", 600, "drill.post"), pay("b", 500)])
    assert house.statuses() == {"a": "PENDING", "b": "WAITING_APPROVAL"}


def test_a_total_may_forbid():
    house = House(rules=[{**TOTAL, "then": "blocked"}])
    house.run([pay("a", 600), pay("b", 500)])
    assert house.statuses() == {"a": "PENDING", "b": "FAILED"}
    assert "1100" in house.step("b").error_text
