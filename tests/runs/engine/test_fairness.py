"""Fair share between tenants (L18): quotas counted from leases, weights, debts, and places that change hands."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now

from accounts.models import Tenant
from runs.engine import claim as claiming
from runs.engine import fairness
from runs.engine.claim import claim
from runs.engine.reclaim import reclaim
from runs.engine.types import Claimed, Outcome
from runs.models import Step, TenantTerms
from tests.make import queues
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tools.models import WorkerProcess

ONE, TWO = UUID(int=1), UUID(int=2)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two():
    """Two tenants, with somebody who submits in each."""
    return queues.member(), queues.member()


def terms(tenant: Tenant, **values: Any) -> None:
    TenantTerms.objects.update_or_create(tenant=tenant, defaults=values)


def take(me: WorkerProcess, places: int, **more: Any) -> list[Claimed]:
    return claim(worker_id=me.pk, room={"io": places}, sent=0.0, **more)


def whose(claimed: list[Claimed]) -> Counter[UUID]:
    return Counter(step.tenant_id for step in claimed)


def test_who_comes_late_with_little_is_served_at_once(two):
    """Guards `runs/sql/claim_steps.sql` (allotted): 300 runs that waited longer do not stand before the one."""
    (many, _), (few, _) = two
    queues.crowd(two[0], 300)
    me = hands.worker()
    take(me, 40)
    queues.crowd(two[1], 1)
    assert whose(take(me, 40)) == {many.pk: 39, few.pk: 1}


def test_a_hundred_tenants_take_turns(two):
    """Guards the circle in `claim_steps.sql` and `runs.engine.fairness._served`: more tenants than one go considers."""
    made = queues.tenants(100, two[0], each=3)
    me = hands.worker()
    got: Counter[UUID] = Counter()
    for _ in range(13):
        got += whose(take(me, 8))
    served = {tenant.pk for tenant in made} | {two[0][0].pk}
    assert (len(served - set(got)), sum(got.values()), max(got.values())) == (0, 104, 2)


def test_room_is_filled_from_whoever_has_work(two):
    """Guards the second go in `runs.engine.fairness.share_out`: a part that nobody wants is not lost."""
    (many, _), (few, _) = two
    queues.crowd(two[0], 60)
    queues.crowd(two[1], 2)
    assert whose(take(hands.worker(), 50)) == {many.pk: 48, few.pk: 2}


def test_weights_divide_the_places(two):
    """Guards `claim_steps.sql` (wish)."""
    (heavy, _), (light, _) = two
    queues.crowd(two[0], 60)
    queues.crowd(two[1], 60)
    terms(heavy, weight=3)
    assert whose(take(hands.worker(), 40)) == {heavy.pk: 30, light.pk: 10}


def test_failures_cost_a_part_of_the_share_and_are_forgotten(two):
    """Guards the weight w / (1 + a * r) in `claim_steps.sql` and its decay by the clock of the database."""
    (good, _), (failing, _) = two
    queues.crowd(two[0], 60)
    queues.crowd(two[1], 60)
    terms(failing, debt=30, debt_at=Now())
    first = whose(take(hands.worker(), 40))
    assert first[failing.pk] in (8, 9), "a quarter of the other's, and what was forgotten in the meantime"
    assert first.total() == 40
    Step.everywhere.filter(status="RUNNING").update(status="PENDING", owner=None, lease_until=None)
    terms(failing, debt=30, debt_at=Now() - timedelta(days=1))
    assert whose(take(hands.worker(), 40)) == {good.pk: 20, failing.pk: 20}


def test_what_fails_is_charged_in_the_same_commit(two):
    """Guards `runs.engine.workspace.Workspace._charge`: one a failure, and halves of what was before."""
    (tenant, _), _other = two
    hands.counter_run(*two[0])
    me = hands.worker()
    hands.put(me, *[hands.done(step) for step in hands.take(me)])
    (call,) = hands.take(me)
    hands.put(me, Outcome(call, "failed", error_code="no"))
    assert TenantTerms.objects.get(tenant=tenant).debt == pytest.approx(1)
    half_life = timedelta(seconds=300)
    TenantTerms.objects.filter(tenant=tenant).update(debt=8, debt_at=Now() - half_life)
    Step.everywhere.filter(pk=call.step_id).update(not_before=Now())
    (again,) = hands.take(me)
    hands.put(me, Outcome(again, "lost"))
    assert TenantTerms.objects.get(tenant=tenant).debt == pytest.approx(5, abs=0.1)


def test_b34_a_quota_is_of_leases_that_stand_in_rows(two):
    """Guards `claim_steps.sql` (facts): no number is kept, so nothing leaks; a step that ends makes place for one."""
    (tenant, _), _other = two
    queues.crowd(two[0], 20)
    terms(tenant, lease_quota=5)
    me = hands.worker()
    held = take(me, 40)
    assert (len(held), take(me, 40)) == (5, [])
    hands.put(me, Outcome(held[0], "drained"))
    assert len(take(me, 40)) == 1
    Step.everywhere.filter(status="RUNNING").update(lease_until="2020-01-01T00:00:00Z")
    assert reclaim() == 5
    assert len(take(me, 40)) == 5


def test_b34_two_nodes_together_stay_within_the_quota(two, monkeypatch):
    """Guards `lock_quotas.sql`: the second claim counts what the first has taken but not yet committed."""
    (tenant, _), _other = two
    queues.crowd(two[0], 60)
    terms(tenant, lease_quota=30)
    nodes, hold, got = [hands.worker(), hands.worker()], threading.Event(), {}
    first_is_in = threading.Event()

    def pause(name):
        if name == "claim.after_select" and not first_is_in.is_set():
            first_is_in.set()
            assert hold.wait(30)

    monkeypatch.setattr(claiming, "fp", pause)

    def node(number):
        try:
            got[number] = take(nodes[number], 20)
        finally:
            connection.close()

    threads = [threading.Thread(target=node, args=(number,)) for number in (0, 1)]
    threads[0].start()
    assert first_is_in.wait(30)
    threads[1].start()
    wait_until_blocked()
    hold.set()
    for thread in threads:
        thread.join(30)
    assert (len(got[0]), len(got[1])) == (20, 10)
    assert Step.everywhere.filter(status="RUNNING", tenant=tenant).count() == 30


def test_no_tenant_fills_a_node(two):
    """Guards `most` in `claim_steps.sql`: some places of a node are for the others."""
    (few, _) = two[1]
    queues.crowd(two[0], 60)
    me = hands.worker()
    assert len(take(me, 34, most={"io": 32})) == 32
    assert take(me, 2, most={"io": 32}) == []
    queues.crowd(two[1], 5)
    assert whose(take(me, 2, most={"io": 32})) == {few.pk: 2}
    assert len(take(hands.worker(), 34, most={"io": 32})) == 28 + 3, "another node has places of its own"


def test_a_run_goes_on_at_once_only_where_it_keeps_nobody_out(two, monkeypatch):
    """Guards `runs.engine.fairness.Sticky`: a full pool of one tenant's long runs lets another in."""
    monkeypatch.setattr(fairness, "PACE", fairness.Pace())
    (few, _) = two[1]
    queues.crowd(two[0], 60, steps=50)
    me = hands.worker()
    step, *_others = take(me, 40)
    (on,) = hands.put(me, hands.done(step), room={"io": 2}).next
    assert on.run_id == step.run_id, "with room it goes on at once"
    queues.crowd(two[1], 1)
    assert hands.put(me, hands.done(on), room={"io": 1}).next == [], "the last place goes through the queue"
    assert whose(take(me, 1)) == {few.pk: 1}


def test_going_on_at_once_takes_no_place_that_is_kept(two):
    """Guards `kept` in `Sticky.may`: only the place of its own kind that it gave back is its own."""
    sticky = fairness.Sticky(
        [(ONE, "io"), (ONE, "io")], fairness.Places({"io": 2, "cpu": 1}, {"io": 2, "cpu": 1})
    )
    assert not sticky.may(ONE, "cpu")
    assert sticky.may(ONE, "io")
    assert not sticky.may(TWO, "io"), "who gave nothing back gets nothing"


def test_a_plan_with_many_steps_takes_only_the_lease_that_it_gave_back(two):
    """Guards `leases` in `Sticky.may`: so a quota cannot be passed by going on at once."""
    sticky = fairness.Sticky([(ONE, "io")], fairness.Places({"io": 100}, {}))
    assert [sticky.may(ONE, "io") for _ in range(3)] == [True, False, False]


def test_a_quota_that_was_lowered_is_reached(two, monkeypatch):
    """Guards `runs/sql/over_quota.sql`: runs under way stop going on at once until there are few enough."""
    monkeypatch.setattr(fairness, "PACE", fairness.Pace())
    (tenant, _), _other = two
    queues.crowd(two[0], 4, steps=50)
    me = hands.worker()
    held = take(me, 4)
    terms(tenant, lease_quota=2)
    fairness.PACE.look()
    for step in held[:2]:
        assert hands.put(me, hands.done(step), room={"io": 50}).next == []
    fairness.PACE.look()
    assert len(hands.put(me, hands.done(held[2]), room={"io": 50}).next) == 1


def test_one_tenants_dead_leases_do_not_stand_before_anothers(two):
    """Guards `runs/sql/expired_steps.sql`: 260 leases that ended long ago, and one that ended just now."""
    (many, _), (few, _) = two
    queues.crowd(two[0], 260)
    queues.crowd(two[1], 1)
    me = hands.worker()
    while take(me, 100):
        pass
    Step.everywhere.filter(tenant=many).update(lease_until="2020-01-01T00:00:00Z")
    Step.everywhere.filter(tenant=few).update(lease_until=Now() - timedelta(milliseconds=1))
    assert reclaim() == 101
    assert Step.everywhere.get(tenant=few).status == "PENDING"
