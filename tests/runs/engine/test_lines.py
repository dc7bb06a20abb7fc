"""The order on a resource: one strict effect at a time, the next as soon as it has ended, and nobody older than the last."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connection, connections, transaction
from django.urls import reverse

from accounts.ids import new_id, public
from accounts.scope import tenant_scope
from approvals.decide import decide
from approvals.models import PendingAction
from runs import tallies
from runs.engine.begin import begin
from runs.engine.begin_many import Asked, begin_many
from runs.engine.let_in import let_in, let_next_in
from runs.engine.reclaim import reclaim
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Go, Outcome, Stop
from runs.models import Event, Run, Step
from runs.present import header
from runs.present import steps as step_rows
from runs.selectors import steps
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tests.runs.engine.limited import STRICT, House, again, intent, step
from tools import fences, intents
from tools.models import Intent, ResourceFence

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> House:
    return House()


def answered(claimed: Claimed, go: Go | Stop, ending: Any = "succeeded", **more: Any) -> Outcome:
    assert isinstance(go, Go), go
    said = {"ok": True}
    plan = hands.planned(claimed, output=said) if ending == "succeeded" else None
    return Outcome(claimed, ending, said, plan=plan, dispatch_id=go.dispatch_id, reference="far", **more)


def token() -> int:
    return int(ResourceFence.everywhere.get().last_token)


def test_l11_while_one_is_under_way_the_next_waits_and_says_for_what(house):
    house.effect(**STRICT)
    first, other = house.run(), house.run()
    one, two = house.asked(first, other)
    assert isinstance(hands.asked(house.me, one), Go)
    assert (intent(first).resource, token()) == ("account/7", one.fence)
    said = hands.asked(house.me, two)
    assert isinstance(said, Stop)
    assert (said.why, said.code) == ("waiting", "in_line")
    waiting = step(other)
    assert (waiting.status, waiting.failures, waiting.losses) == ("WAITING_EXTERNAL", 0, 0)
    text = f"Waits for account/7: “drill.effect” is under way there ({public('run', first.pk)})"
    assert waiting.waiting_on == text
    now = header.now(again(other), [waiting], [])
    assert now is not None
    assert now.text == text
    with tenant_scope(house.tenant.pk):
        (row,) = step_rows.rows(steps.of_run(other.pk).rows, [], [])
    assert row.note == text
    assert row.behind_url == reverse("runs:task_detail", args=[first.pk])
    assert Event.everywhere.get(run=other, type="step.in_line").payload["why"] == text
    assert let_in() == 0
    assert token() == one.fence


def test_l11_the_end_of_one_lets_the_next_in_at_once(house):
    """The commit that confirms an effect rings with itself; no poll is needed."""
    house.effect(**STRICT)
    first, other = house.run(), house.run()
    one, two = house.asked(first, other)
    go = hands.asked(house.me, one)
    hands.asked(house.me, two)
    with psycopg.connect(**_address(), autocommit=True) as ear:
        ear.execute("LISTEN countersign_node")
        hands.put(house.me, answered(one, go))
        heard = {note.payload for note in ear.notifies(timeout=20, stop_after=1)}
    assert "freed" in heard
    assert let_next_in() == 1
    (resumed,) = [each for each in house.planned() if each.run_id == other.pk]
    assert isinstance(hands.asked(house.me, resumed), Go)
    assert token() == resumed.fence > two.fence > one.fence


def test_the_many_together_leave_one_with_an_order_to_begin_alone(house):
    """Guards runs/engine/begin_many.py `_decide`: together nobody looks at the resource."""
    house.effect(**STRICT)
    (claimed,) = house.asked(house.run())
    assert begin_many(worker_id=house.me.pk, asked=[Asked(claimed, new_id(), 7)]) == [None]


def test_another_resource_is_another_line(house):
    house.effect(**STRICT)
    one, two = house.asked(house.run(account="7"), house.run(account="8"))
    assert isinstance(hands.asked(house.me, one), Go)
    assert isinstance(hands.asked(house.me, two), Go)


def test_another_tenant_is_another_line(house):
    house.effect(**STRICT)
    other = House()
    other.effect(**STRICT)
    for each in (house, other):
        each.run()
    claimed = house.planned()
    assert len({one.tenant_id for one in claimed}) == 2
    assert all(isinstance(hands.asked(house.me, one), Go) for one in claimed)


def test_two_tools_that_name_the_same_resource_share_the_line(house):
    """At least keeps nobody waiting by itself, but nobody steps into the turn of one that is strict."""
    house.effect(**STRICT)
    house.effect("drill.effect_keyed", **{**STRICT, "fence_rule": "at_least"})
    strict, loose = house.run(), house.run("drill.effect_keyed")
    one, two = house.asked(strict, loose)
    assert isinstance(hands.asked(house.me, one), Go)
    assert isinstance(hands.asked(house.me, two), Stop)
    assert step(loose).error_code == "in_line"


def test_at_least_runs_side_by_side_and_refuses_the_older(house):
    """Guards tools/fences.py `enter`, rule `at_least`: the older token is refused and counted, and the step comes back with
    a newer one."""
    house.effect(**{**STRICT, "fence_rule": "at_least"})
    before = _refused()
    runs = [house.run(), house.run()]
    one, two = sorted(house.asked(*runs), key=lambda claimed: claimed.fence)
    assert isinstance(hands.asked(house.me, two), Go)
    said = hands.asked(house.me, one)
    assert isinstance(said, Stop)
    assert said.code == "fence_older"
    assert _refused() == before + 1
    (back,) = house.planned()
    assert (back.step_id, back.failures, back.losses) == (one.step_id, 0, 0)
    assert isinstance(hands.asked(house.me, back), Go)
    assert token() == back.fence


def test_l11_strict_refuses_the_older_after_the_newer_has_ended(house):
    house.effect(**STRICT)
    runs = [house.run(), house.run()]
    one, two = sorted(house.asked(*runs), key=lambda claimed: claimed.fence)
    hands.put(house.me, answered(two, hands.asked(house.me, two)))
    said = hands.asked(house.me, one)
    assert isinstance(said, Stop)
    assert said.code == "fence_older"
    (back,) = [each for each in house.planned() if each.step_id == one.step_id]
    assert isinstance(hands.asked(house.me, back), Go)


@pytest.mark.parametrize("rule", ["strict", "at_least"])
def test_the_same_token_is_not_newer(house, rule):
    contract = house.effect(**{**STRICT, "fence_rule": rule})
    (claimed,) = house.asked(house.run())
    row = Intent.everywhere.get(pk=claimed.intent_id)
    with transaction.atomic():
        assert fences.enter(intent=row, contract=contract, fence=5) is None
        fences.keep(intent=row, fence=5)
        again_ = fences.enter(intent=row, contract=contract, fence=5)
    assert isinstance(again_, fences.Older) == (rule == "strict")


def test_l11_an_unknown_outcome_keeps_the_line_until_a_person_has_settled_it(house):
    house.effect(**STRICT)
    first, other = house.run(), house.run()
    one, two = house.asked(first, other)
    hands.put(house.me, answered(one, hands.asked(house.me, one), "unknown", error_code="silent"))
    assert isinstance(hands.asked(house.me, two), Stop)
    assert "the outcome of “drill.effect” is unknown" in step(other).waiting_on
    assert let_next_in() == 0
    _settle(house, first, "happened", reference="seen")
    assert let_next_in() == 1


@pytest.mark.parametrize("ending", ["refused", "abandoned"])
def test_every_end_of_an_effect_rings_for_those_in_line(house, ending):
    """Guards tools/intents.py `ENDS`."""
    house.effect(**STRICT)
    one, two = house.asked(house.run(), house.run())
    go = hands.asked(house.me, one)
    hands.asked(house.me, two)
    assert isinstance(go, Go)
    with psycopg.connect(**_address(), autocommit=True) as ear:
        ear.execute("LISTEN countersign_node")
        with transaction.atomic():
            if ending == "refused":
                intents.refuse(intent_id=one.intent_id, dispatch_id=go.dispatch_id, evidence=None)
            else:
                intents.lose(intent_id=one.intent_id, dispatch_id=go.dispatch_id, evidence=None)
                intents.abandon(intent_id=one.intent_id, evidence=None)
        heard = [note.payload for note in ear.notifies(timeout=20, stop_after=1)]
    assert heard == ["freed"]
    assert let_next_in() == 1


def test_only_the_first_in_line_is_woken(house):
    house.effect(**STRICT)
    runs = [house.run() for _ in range(4)]
    claimed = house.asked(*runs)
    go = hands.asked(house.me, claimed[0])
    for one in claimed[1:]:
        hands.asked(house.me, one)
    hands.put(house.me, answered(claimed[0], go))
    assert let_next_in() == 1
    assert [step(run).status for run in runs[1:]] == ["PENDING", "WAITING_EXTERNAL", "WAITING_EXTERNAL"]


def test_one_that_nobody_claims_does_not_keep_the_others_in_line(house):
    """The next poll lets the next one in: who was woken may be in a task that a person has to take over."""
    house.effect(**STRICT)
    runs = [house.run() for _ in range(3)]
    claimed = house.asked(*runs)
    go = hands.asked(house.me, claimed[0])
    for one in claimed[1:]:
        hands.asked(house.me, one)
    hands.put(house.me, answered(claimed[0], go))
    assert (let_next_in(), let_next_in(), let_next_in()) == (1, 1, 0)


def test_who_finds_the_resource_just_left_is_not_forgotten(house):
    """Guards tools/fences.py `left`: an effect that ends while another looks waits for that look, so that what the other
    parks is seen by the poll that the end rings for (a lost wake-up)."""
    house.effect(**STRICT)
    first, other = house.run(), house.run()
    one, two = house.asked(first, other)
    go = hands.asked(house.me, one)
    contract = house.effect(**STRICT)
    row = Intent.everywhere.get(pk=two.intent_id)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert isinstance(fences.enter(intent=row, contract=contract, fence=two.fence), fences.Taken)
            ended = pool.submit(_closing, lambda: hands.put(house.me, answered(one, go)))
            wait_until_blocked()
            assert not ended.done()
        ended.result(30)
    assert intent(first).status == "CONFIRMED"


def test_l11_never_two_strict_effects_in_flight_under_eight_threads(house):
    """Guards tools/fences.py `enter`: eight workers' children ask at once, again and again, until every effect has happened;
    after each answer there is one dispatched effect at most."""
    house.effect(**STRICT)
    runs = [house.run() for _ in range(8)]
    claimed = house.asked(*runs)
    sent: list[int] = []

    def go_through(mine: Claimed, gate: threading.Barrier) -> None:
        gate.wait(30)
        said = hands.asked(house.me, mine)
        if isinstance(said, Go):
            assert Intent.everywhere.filter(resource="account/7", status="DISPATCHED").count() == 1
            # Before its end is recorded no other is told to go.
            sent.append(mine.fence)
            hands.put(house.me, answered(mine, said))

    while claimed:
        gate = threading.Barrier(len(claimed))
        with ThreadPoolExecutor(8) as pool:
            for one in [
                pool.submit(_closing, lambda mine=mine, gate=gate: go_through(mine, gate)) for mine in claimed
            ]:
                one.result(60)
        let_next_in()
        claimed = house.planned()
    assert {again(run).status for run in runs} == {"SUCCEEDED"}
    assert sorted(Intent.everywhere.values_list("dispatches", flat=True)) == [1] * 8
    assert len(sent) == 8
    assert sent == sorted(sent), "each effect carries a newer token than the one before it"


def test_l17_our_gateway_lets_no_second_call_out_under_one_key(house):
    """What the gate believes of a strict fence (`proxy_dedup`): while the first call may be out, however it was lost, no
    second one goes out under its key, neither from the old worker nor from a new one."""
    house.effect(risk="high", **STRICT)
    run = house.run()
    (claimed,) = house.asked(run)
    assert isinstance(hands.asked(house.me, claimed), Go), (
        "high risk, and nobody is asked: the fence is trusted"
    )
    other = hands.worker()
    # Another child of the same worker under the same claim.
    assert isinstance(hands.asked(house.me, claimed), Stop)
    assert step(run).status == "UNKNOWN"
    _settle(house, run, "not_happened", comment="The account was looked at.")
    assert house.planned() == [], "nothing proves that the first sender is gone"
    assert hands.take(other) == []
    stale = begin(claimed=claimed, worker_id=house.me.pk, sender=new_id(), pid=9)
    assert isinstance(stale, Stop)
    assert intent(run).dispatches == 1


def test_a_step_of_a_lost_worker_in_line_waits_again(house):
    house.effect(**STRICT)
    first, other = house.run(), house.run()
    one, two = house.asked(first, other)
    hands.asked(house.me, one)
    Step.everywhere.filter(pk=two.step_id).update(lease_until="2020-01-01T00:00:00Z")
    assert reclaim() == 1
    (back,) = house.planned()
    assert isinstance(hands.asked(house.me, back), Stop)
    assert step(other).status == "WAITING_EXTERNAL"


def _settle(house: House, run: Run, verdict: str, **more: Any) -> None:
    asked = PendingAction.everywhere.get(run_id=run.pk, kind="settle", status="OPEN")
    decide(
        action_id=asked.pk,
        user_id=house.approver.pk,
        verdict=verdict,
        digest=asked.digest,
        generation=asked.generation,
        channel="web",
        authenticated="session",
        fresh=True,
        gesture=asked.second_gesture,
        **more,
    )
    resume_decided()


def _refused() -> float:
    return tallies.labelled(["fence_rejections"])["fence_rejections"].get(("resource",), 0)


def _address() -> dict[str, Any]:
    given = connection.settings_dict
    names = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    return {ours: given[theirs] for ours, theirs in names.items() if given[theirs]}


def _closing(do: Any) -> Any:
    try:
        return do()
    finally:
        connections.close_all()
