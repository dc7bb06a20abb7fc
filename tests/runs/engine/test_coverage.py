"""Reversible coverage (L15): the share of a task's effects that has a way back, and the floor below which a person is asked."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import AuditEntry, Tenant
from approvals.models import PendingAction
from runs.agents import registry
from runs.models import Step
from runs.preview_plan import preview
from runs.verbs.set_terms import set_terms
from tests.make import runs as house_of
from tests.make.people import browser
from tests.rest.client import Rest
from tests.runs.engine import hands
from tests.runs.engine.bookings import Bookings, call
from tests.tools import make
from tools.models import EffectClass, Intent

pytestmark = pytest.mark.django_db(transaction=True)

#: A tool that undoes, and that the agent may call as well.
UNDO = "drill.effect_keyed"


def letter(key: str = "letter") -> dict[str, Any]:
    return call(key, "drill.effect_final")


def floor(story: Bookings, percent: int) -> None:
    set_terms(tenant_id=story.house.tenant.pk, coverage_floor=percent)


def step(story: Bookings, key: str) -> Step:
    found: Step = Step.everywhere.select_related("intent").get(run_id=story.run_id, key=key)
    return found


def sent_letter(*rounds: list[dict[str, Any]], fails: bool = True) -> Bookings:
    """One booking and one letter that was approved have happened."""
    story = Bookings([call("hall")], [letter()], *rounds, fails=fails).go()
    story.answer("approve", "approve")
    return story


def told(story: Bookings) -> int | None:
    """What REST says."""
    ada = Rest(story.house.ada, story.house.tenant, "read", "submit")
    found: int | None = ada.get(f"tasks/run_{story.run_id.hex}/").json()["reversible_coverage"]
    return found


def test_l15_coverage_is_by_weight_and_an_undone_effect_stays_among_those_that_can_be():
    """Guards tools/coverage.py: weights, undo intents are no effects, COMPENSATED counts as before."""
    house = house_of.house()
    declared = {"isolation": "thread", "concerns": "data"}
    make.contract(
        house.tenant,
        "drill.effect",
        **declared,
        target="drill.effect",
        effect_class=EffectClass.COMPENSABLE,
        compensating_tool="drill.undo",
        weight=Decimal("1.5"),
    )
    make.contract(house.tenant, "drill.effect_final", **declared, weight=Decimal(1))
    story = Bookings([call("hall")], [call("car")], [letter()], house=house)
    assert told(story) is None
    story.go()
    assert told(story) == 100
    story.answer("approve", "approve")
    story.go()
    assert story.run.status == "FAILED"
    assert story.undos() == ["undo/car", "undo/hall"]
    assert told(story) == 75
    page = browser(house.ada).get(f"/tasks/run_{story.run_id.hex}/").content.decode()
    assert "75 %" in page


def test_l15_below_the_floor_of_the_tenant_a_person_is_asked_and_told_why():
    """Guards tools/gate.py `_too_little_way_back` at planning: hall 100 %, with the letter 50 %, with the car 66 %."""
    story = Bookings([call("hall")], [letter()], [call("car")], fails=False)
    floor(story, 80)
    story.go()
    assert story.happened == ["hall"]
    asked = PendingAction.everywhere.get(run_id=story.run_id, kind="approve", status="OPEN")
    assert [reason["code"] for reason in asked.policy["reasons"]] == [
        "irreversible",
        "high_risk_without_key",
        "coverage",
    ]
    story.answer("approve", "approve")
    story.go()
    assert story.happened == ["hall", "letter"]
    asked = PendingAction.everywhere.get(run_id=story.run_id, kind="approve", status="OPEN")
    (reason,) = asked.policy["reasons"]
    assert reason["code"] == "coverage"
    assert reason["params"] == {"share": 66, "floor": 80}
    story.answer("approve", "approve")
    story.go()
    assert (story.happened[-1], story.run.status) == ("car", "SUCCEEDED")


@pytest.mark.parametrize(("percent", "asks"), [(66, False), (67, True)])
def test_l15_a_floor_that_is_set_after_the_plan_holds_in_begin(percent, asks):
    """Guards tools/selectors.py `Reading.verdict`: the look in begin, and where the floor lies exactly."""
    story = sent_letter([call("car")], fails=False)
    while not Step.everywhere.filter(run_id=story.run_id, key="car").exists():
        hands.put(story.me, *[story.act(one) for one in hands.take(story.me)])
    assert step(story, "car").status == "PENDING"
    floor(story, percent)
    for claimed in hands.take(story.me):
        said = hands.asked(story.me, claimed)
        assert (getattr(said, "code", "go") == "needs_approval") is asks
    assert (step(story, "car").status == "WAITING_APPROVAL") is asks


def test_l15_the_calls_of_one_plan_count_for_each_other():
    """Guards tools/weighed.py: what the transaction is about to insert."""
    story = Bookings([letter("first"), call("hall")], fails=False)
    floor(story, 80)
    story.go()
    waiting = Step.everywhere.filter(run_id=story.run_id, status="WAITING_APPROVAL")
    assert set(waiting.values_list("key", flat=True)) == {"first", "hall"}


def test_l15_no_floor_stops_an_undo():
    """Guards runs/engine/compensate.py and tools/sql/weights.sql: taking back never lowers what can be taken back."""
    story = sent_letter()
    floor(story, 100)
    story.go()
    assert story.undos() == ["undo/hall"]
    assert story.run.status == "FAILED"


@pytest.mark.parametrize("status", ["REJECTED", "VOIDED"])
def test_l15_what_did_not_happen_is_no_effect(status):
    story = sent_letter([call("car")], fails=False)
    story.go()
    Intent.everywhere.filter(pk=step(story, "letter").intent_id).update(status=status)
    assert told(story) == 100


def test_l15_the_preview_of_a_plan_tells_its_coverage_and_what_the_floor_would_ask():
    house = house_of.house()
    agent = registry.get("contract-review")
    given = {"notify": house_of.ADDRESS, "files": [{"name": "a.txt", "sha256": "0" * 64, "size": 1}]}
    before = preview(tenant_id=house.tenant.pk, agent=agent, input=given)
    assert before.coverage == 0
    set_terms(tenant_id=house.tenant.pk, coverage_floor=50)
    after = preview(tenant_id=house.tenant.pk, agent=agent, input=given)
    (asks,) = [one for one in after.steps if one.path == "approval"]
    assert "below 50 % a person is asked" in asks.why
    assert [one.path for one in after.steps] == [one.path for one in before.steps]


def test_the_command_sets_shows_and_takes_away_the_floor(capsys):
    tenant = make.tenant()
    call_command("tenant_terms", tenant.slug, coverage_floor=80)
    assert "coverage_floor: 80" in capsys.readouterr().out
    assert Tenant.objects.get(pk=tenant.pk).coverage_floor == 80
    entry = AuditEntry.everywhere.get(tenant=tenant, act="tenant.terms_set")
    assert entry.payload == {"coverage_floor": "80"}
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("tenant_terms", tenant.slug, coverage_floor=101)
    call_command("tenant_terms", tenant.slug, coverage_floor=0)
    assert Tenant.objects.get(pk=tenant.pk).coverage_floor is None


@pytest.mark.parametrize("concerns", ["funds", "permission", "commitment"])
def test_l21_an_undo_that_an_agent_plans_itself_is_only_proposed(concerns):
    """Guards runs/engine/planner.py: a tool that undoes is judged as any other when the agent calls it, whatever it says."""
    house = house_of.house()
    own = {"isolation": "thread", "concerns": concerns, "effect_class": EffectClass.IRREVERSIBLE}
    make.contract(house.tenant, UNDO, **own, target=UNDO)
    booked = {"effect_class": EffectClass.COMPENSABLE, "compensating_tool": UNDO, "isolation": "thread"}
    make.contract(house.tenant, "drill.post", **booked, target="drill.post")
    story = Bookings([call("hall", "drill.post")], [call("back", UNDO)], fails=False, house=house)
    story.go()
    assert story.happened == ["hall"]
    planned = step(story, "back")
    assert (planned.kind, planned.status) == ("call", "WAITING_APPROVAL")
    assert planned.intent is not None
    assert (planned.intent.status, planned.intent.compensates_id) == ("PROPOSED", None)
    asked = PendingAction.everywhere.get(run_id=story.run_id, kind="approve", status="OPEN")
    assert f"concerns_{concerns}" in [reason["code"] for reason in asked.policy["reasons"]]
    story.answer("reject", "approve", comment="no")
    assert story.happened == ["hall"]
    assert story.fates() == {"hall": "open"}
