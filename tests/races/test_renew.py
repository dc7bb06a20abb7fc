"""Renewal beside a commit, and the fate of outcomes whose COMMIT had no answer."""

from __future__ import annotations

import dataclasses

import psycopg
import pytest

from accounts.models import Role
from runs.engine.fate import not_recorded, strays
from runs.engine.renew import renew, standing
from runs.models import Step
from tests.runs.engine import hands
from tests.runs.node import real
from tests.tools import make
from tools import samples

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def claimed():
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER)
    samples.seed(tenant)
    hands.counter_run(tenant, user, steps=2)
    worker = hands.worker()
    return worker, hands.take(worker)[0]


def test_a_renewal_does_not_wait_for_a_commit_and_does_not_call_its_step_lost(claimed):
    """Guards SKIP LOCKED in `renew_leases.sql`: without it the two would deadlock in opposite lock orders."""
    worker, step = claimed
    lease = [(step.step_id, step.fence)]
    with (
        psycopg.connect(real.database_url()) as commit,
        psycopg.connect(real.database_url(), autocommit=True, options="-c lock_timeout=5000") as keeper,
    ):
        commit.execute("SELECT 1 FROM runs_step WHERE id = %s FOR UPDATE", [step.step_id])
        assert renew(keeper, worker_id=worker.pk, leases=lease, seconds=60) == set()
        assert standing(keeper, worker_id=worker.pk, leases=lease).lost == set()
        commit.rollback()
        assert renew(keeper, worker_id=worker.pk, leases=lease, seconds=60) == {step.step_id}


@pytest.mark.parametrize("change", ["fence", "owner", "expired"])
def test_a_lease_that_is_not_ours_is_not_renewed(claimed, change):
    """Guards the conditions of `renew_leases.sql`, one by one."""
    worker, step = claimed
    fence, owner = step.fence + (change == "fence"), worker.pk
    if change == "owner":
        owner = hands.worker().pk
    with psycopg.connect(real.database_url(), autocommit=True) as keeper:
        if change == "expired":
            keeper.execute(
                "UPDATE runs_step SET lease_until = now() - interval '1 s' WHERE id = %s", [step.step_id]
            )
        assert renew(keeper, worker_id=owner, leases=[(step.step_id, fence)], seconds=60) == set()
        if change != "fence":
            assert standing(keeper, worker_id=owner, leases=[(step.step_id, fence)]).lost == {step.step_id}


def test_b44_what_was_committed_is_known_as_such(claimed):
    """Guards `runs.engine.fate._recorded`."""
    worker, step = claimed
    outcome = hands.done(step)
    assert not_recorded(worker_id=worker.pk, outcomes=[outcome]) == [outcome]
    hands.put(worker, outcome)
    assert not_recorded(worker_id=worker.pk, outcomes=[outcome]) == []


def test_a_success_that_a_sweep_overtook_still_goes_to_quarantine(claimed):
    """A step that was taken back under our fence says nothing of our commit: a success is offered again."""
    worker, step = claimed
    Step.everywhere.filter(pk=step.step_id).update(owner=None, lease_until=None, status="PENDING")
    success = hands.done(step)
    lost = dataclasses.replace(success, ending="lost", plan=None)
    assert not_recorded(worker_id=worker.pk, outcomes=[success]) == [success]
    assert not_recorded(worker_id=worker.pk, outcomes=[lost]) == []


def test_a_step_whose_claim_got_lost_is_found(claimed):
    worker, step = claimed
    assert [found.step_id for found in strays(worker_id=worker.pk, known=set())] == [step.step_id]
    assert strays(worker_id=worker.pk, known={(step.step_id, step.fence)}) == []
