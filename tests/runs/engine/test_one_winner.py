"""The same transition, asked for by two at the same moment, a thousand times."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections, transaction
from django.db.models.functions import Now

from accounts.arrows import RefusedTransition, move
from accounts.ids import new_id
from accounts.models import Role
from runs.engine.cancel import cancel
from runs.errors import AlreadyEnded
from runs.models import Event, Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 1000


@pytest.fixture
def run() -> Run:
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    samples.seed(tenant)
    return hands.counter_run(tenant, make.person(tenant, Role.SUBMITTER, name="Ada"), steps=1)


@pytest.mark.slow
def test_b42_of_two_that_take_the_same_arrow_one_wins_and_the_other_hears_it(run):
    """Guards accounts/arrows.py `move`: the state that was read is compared in the statement that writes, and the number
    of rows is read. Each of the two looked before the other wrote, over a connection of its own."""
    first = Step.everywhere.get(run=run)
    steps = [
        Step(**{
            **{f.attname: getattr(first, f.attname) for f in Step._meta.concrete_fields if f.attname != "status"},
            "id": new_id(), "key": f"copy/{n}", "seq": n + 100, "kind": "call",
        })
        for n in range(ROUNDS)
    ]  # fmt: skip
    Step.everywhere.bulk_create(steps)
    gate = threading.Barrier(2)

    def one() -> list[str]:
        said = []
        try:
            for step in [Step.everywhere.get(pk=step.pk) for step in steps]:
                gate.wait(60)
                try:
                    with transaction.atomic():
                        move(step, "cancel", changes={"finished_at": Now()})
                    said.append("won")
                except RefusedTransition as refused:
                    said.append(f"found {refused.found}")
        finally:
            connections.close_all()
        return said

    with ThreadPoolExecutor(2) as two:
        mine, theirs = [future.result(100) for future in [two.submit(one), two.submit(one)]]
    assert len(mine) == len(theirs) == ROUNDS
    assert [Counter(pair) for pair in zip(mine, theirs, strict=True)] == [
        Counter({"won": 1, "found CANCELLED": 1})
    ] * ROUNDS
    assert Step.everywhere.filter(run=run, status="CANCELLED").count() == ROUNDS


def test_b42_two_cancels_at_once_are_one_end(run):
    """Guards runs/engine/cancel.py: the run is locked before its state is read, so the second finds it ended."""
    gate = threading.Barrier(2)

    def one() -> str:
        try:
            gate.wait(20)
            cancel(run_id=run.pk, user_id=run.submitter_id)
        except AlreadyEnded:
            return "ended"
        finally:
            connections.close_all()
        return "won"

    with ThreadPoolExecutor(2) as two:
        said = sorted(future.result(60) for future in [two.submit(one), two.submit(one)])
    assert said == ["ended", "won"]
    assert Event.everywhere.filter(run=run, type="run.cancelled").count() == 1
