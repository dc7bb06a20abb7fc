"""Effects of many runs at once: begun in one transaction, recorded in the group commit, with every check of the single path."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from django.db.models.functions import Now

from accounts import audit
from accounts.ids import new_id
from accounts.models import Role
from runs import timeline
from runs.engine.begin_many import Asked, begin_many
from runs.engine.types import Claimed, Go, Outcome
from runs.models import Quarantined, Run, Step
from tests.runs.engine import hands
from tests.runs.engine.test_fencing import NOT_OURS, take_away
from tests.tools import make
from tools import samples, workers
from tools.models import Intent, StopSwitch, Tool

pytestmark = pytest.mark.django_db(transaction=True)


class House:
    """Two runs of two effects each that no rule asks a person about, both about to begin the first."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        make.person(self.tenant, Role.APPROVER)
        self.submitter = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        samples.seed(self.tenant)
        self.me, self.child = hands.worker(), new_id()
        for _ in range(2):
            hands.counter_run(
                self.tenant, self.submitter, steps=2, tool="drill.post", arguments={"amount": 1}
            )
        planned = hands.put(self.me, *[hands.done(one) for one in hands.take(self.me)], room={"io": 10})
        self.claimed = planned.next

    def ask(self, *claimed: Claimed, sender: Any = None) -> list[Go | None]:
        asked = [Asked(one, sender or self.child, 77) for one in claimed]
        return begin_many(worker_id=self.me.pk, asked=asked)

    def sent(self) -> list[tuple[Claimed, Go]]:
        begun = [(one, go) for one, go in zip(self.claimed, self.ask(*self.claimed), strict=True) if go]
        assert len(begun) == len(self.claimed)
        return begun

    def intent(self, claimed: Claimed) -> Intent:
        found: Intent = Intent.everywhere.get(pk=claimed.intent_id)
        return found


@pytest.fixture
def house() -> House:
    return House()


def happened(claimed: Claimed, go: Go, **more: Any) -> Outcome:
    """As the child reports it: planned against the version that begin made."""
    plan = hands.planned(dataclasses.replace(claimed, version=go.version), output={"id": 1})
    return Outcome(claimed, "succeeded", {"id": 1}, plan=plan, dispatch_id=go.dispatch_id, **more)


def test_effects_go_on_claimed_begin_and_are_recorded_without_a_plan_step(house):
    assert all(one.intent_key and one.kind == "call" for one in house.claimed)
    begun = house.sent()
    done = hands.put(house.me, *[happened(*one, reference="r/1") for one in begun], room={"io": 10})
    assert sorted(one.key for one in done.next) == ["count/2", "count/2"]
    assert {house.intent(one).status for one in done.next} == {"AUTHORISED"}
    last = [(one, go) for one, go in zip(done.next, house.ask(*done.next), strict=True) if go]
    hands.put(house.me, *[happened(*one) for one in last])
    assert set(Run.everywhere.values_list("status", flat=True)) == {"SUCCEEDED"}
    assert Intent.everywhere.filter(status="CONFIRMED", answer={"id": 1}).count() == 4
    assert house.intent(begun[0][0]).reference == "r/1"
    assert Step.everywhere.filter(kind="plan").count() == 2
    assert [timeline.verify(run.pk) for run in Run.everywhere.all()] == [[], []]
    assert audit.verify(tenant_id=house.tenant.pk) == []


@pytest.mark.parametrize("how", NOT_OURS)
def test_an_old_execution_does_not_begin_beside_one_that_does(house, how):
    """Guards `begin_steps.sql` and `begin_many._may_go_on`: owner, fence, epochs and lease, each by itself."""
    first, second = house.claimed
    take_away(first, how)
    answers = house.ask(first, second)
    assert (answers[0], isinstance(answers[1], Go)) == (None, True)
    assert (house.intent(first).status, house.intent(first).dispatches) == ("AUTHORISED", 0)


def _stop(house: House, **scope: Any) -> None:
    StopSwitch.everywhere.create(tenant=house.tenant, reason="no", set_by=house.submitter, **scope)


@pytest.mark.parametrize("what", ["tenant", "tool", "run", "paused"])
def test_what_is_switched_off_does_not_begin(house, what):
    """Guards `begin_many._decide`: the gate is asked again, with the switches as they are now."""
    first, second = house.claimed
    tool = Tool.everywhere.get(tenant=house.tenant, name="drill.post")
    match what:
        case "tenant":
            _stop(house)
        case "tool":
            _stop(house, tool=tool)
        case "run":
            _stop(house, run_id=first.run_id)
        case "paused":
            Tool.everywhere.filter(pk=tool.pk).update(
                paused_at=Now(), paused_reason="no", paused_by=house.submitter
            )
    answers = house.ask(first, second)
    assert answers[0] is None
    assert isinstance(answers[1], Go) == (what == "run")


def test_what_is_not_plain_gets_no_answer(house):
    """Guards `begin_many`: a grant, a run that moved, a run that is held, a sender that is gone."""
    first, second = house.claimed
    Intent.everywhere.filter(pk=first.intent_id).update(grant=new_id())
    assert house.ask(first) == [None]
    Intent.everywhere.filter(pk=first.intent_id).update(grant=None)
    assert house.ask(dataclasses.replace(first, version=first.version - 1)) == [None]
    Run.everywhere.filter(pk=first.run_id).update(takeover=new_id())
    assert house.ask(first) == [None]
    gone = hands.worker()
    workers.gone(worker_id=gone.pk, how="clean")
    type(gone).objects.filter(pk=gone.pk).update(parent=house.me)
    assert house.ask(second, sender=gone.pk) == [None]
    assert set(Intent.everywhere.values_list("status", flat=True)) == {"AUTHORISED"}


def test_a_newer_fence_keeps_the_older_from_sending(house):
    """Guards `dispatch_intents.sql`: the fence is compared, and one that is refused refuses the transaction."""
    Intent.everywhere.filter(pk=house.claimed[0].intent_id).update(fence=house.claimed[0].fence)
    with pytest.raises(Exception, match="may not be sent"):
        house.ask(*house.claimed)
    assert set(Intent.everywhere.values_list("status", flat=True)) == {"AUTHORISED"}


def test_the_truth_of_another_dispatch_is_recorded_alone(house):
    """Guards `finish_steps.sql`: only the current dispatch ends its step in the batch; its neighbour is recorded."""
    (first, go), second = house.sent()
    Intent.everywhere.filter(pk=first.intent_id).update(status="UNKNOWN", unknown_since=Now())
    hands.put(house.me, happened(first, go), happened(*second))
    assert {house.intent(one).status for one in house.claimed} == {"CONFIRMED"}
    assert set(Step.everywhere.filter(key="count/1").values_list("status", flat=True)) == {"SUCCEEDED"}


def test_a_late_yes_beside_others_is_kept_and_moves_nothing(house):
    """Guards `commit._commit`: what the batch refuses of an effect is told to `record`, which takes the truth of it."""
    (first, go), second = house.sent()
    take_away(first, "fence")
    hands.put(house.me, happened(first, go), happened(*second))
    assert house.intent(first).status == "CONFIRMED"
    assert Step.everywhere.get(pk=first.step_id).status == "RUNNING"
    assert Quarantined.everywhere.count() == 1
    assert Step.everywhere.get(pk=second[0].step_id).status == "SUCCEEDED"


def test_a_key_that_exists_is_not_proposed_again(house):
    """Guards `commit`: a batch in which an intent exists already is done one by one, and the first intent wins (L9)."""
    begun = house.sent()
    taken = begun[0][0].intent_key.replace("count/1", "count/2")
    first = house.intent(begun[1][0])
    values = {**first.__dict__, "id": new_id(), "key": taken, "status": "PROPOSED", "step_id": new_id()}
    values.pop("_state")
    older = Intent(**values)
    Intent.everywhere.bulk_create([older])
    hands.put(house.me, *[happened(*one) for one in begun])
    hands.run_all(house.me, lambda one: hands.done(one) if one.kind == "plan" else _given_back(one))
    assert Intent.everywhere.filter(key=taken).get().pk == older.pk
    assert Intent.everywhere.filter(status="CONFIRMED").count() == 2


def _given_back(claimed: Claimed) -> Outcome:
    return Outcome(claimed, "cancelled")
