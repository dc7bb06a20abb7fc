"""Stop switches in the browser and over REST: who, why, what is under way; shown wherever they bite."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from accounts.ids import public
from accounts.models import Membership, Role, User
from approvals.models import PendingAction
from runs.models import Run, Step
from tests.make import runs as make
from tests.make.people import browser
from tests.rest.client import Rest
from tests.runs.engine import hands
from tests.runs.engine.test_totals import TOTAL, pay
from tests.runs.engine.test_totals import House as Payers
from tests.tools import make as bench
from tools import switches
from tools.models import Contract, StopSwitch, Tool
from tools.present.consequences import consequences

pytestmark = pytest.mark.django_db(transaction=True)

WHY = "The bank <called>."


@pytest.fixture
def house() -> make.House:
    return make.house()


def text(client: Any, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, (path, answer.status_code)
    return unescape(answer.content.decode())


def test_everything_is_stopped_and_lifted_each_with_a_second_gesture(house):
    jonas = browser(house.jonas)
    path = reverse("runs:stop_everything")
    jonas.post(path, {"reason": WHY})
    assert not StopSwitch.everywhere.exists()
    jonas.post(path, {"sure": "on", "reason": " "})
    assert not StopSwitch.everywhere.exists()
    done = jonas.post(path, {"sure": "on", "reason": WHY}, follow=True)
    assert b"Nothing new starts." in done.content
    for page in (reverse("runs:stops"), reverse("tools:tools")):
        shown = text(jonas, page)
        assert WHY in shown
        assert "Jonas" in shown
    lift = reverse("runs:lift_everything")
    jonas.post(lift, {})
    assert StopSwitch.everywhere.filter(lifted_at=None).exists()
    jonas.post(lift, {"sure": "on"})
    row = StopSwitch.everywhere.get()
    assert (row.lifted_by_id, row.set_by_id) == (house.jonas.pk, house.jonas.pk)
    assert "Nothing is stopped." in text(jonas, reverse("runs:stops"))


def test_a_task_says_who_stopped_it_and_what_is_still_being_sent(house):
    run = house.reviewed()
    house.sending(run)
    page, stop = reverse("runs:task_detail", args=[run.pk]), reverse("runs:stop_run", args=[run.pk])
    jonas, ada = browser(house.jonas), browser(house.ada)
    assert stop in text(jonas, page)
    assert stop not in text(ada, page)
    assert "1 call is already being sent" in text(jonas, stop)
    jonas.post(stop, {"sure": "on", "reason": WHY})
    for client in (jonas, ada):
        shown = text(client, page)
        assert "stopped this task" in shown
        assert WHY in shown
        assert "1 call is already being sent" in shown
    go_on = reverse("runs:go_on", args=[run.pk])
    assert go_on in text(jonas, page)
    assert go_on not in text(ada, page)
    jonas.post(go_on, {"sure": "on"})
    assert "stopped this task" not in text(jonas, page)
    assert not switches.standing(tenant_id=house.tenant.pk)


def test_the_preview_of_a_new_task_says_what_is_stopped(house):
    switches.stop_tenant(tenant_id=house.tenant.pk, by=house.jonas.pk, reason=WHY)
    ada = Rest(house.ada, house.tenant, "read", "submit")
    answer = ada.post("tasks/preview/", {"agent": "contract-review", "input": {"notice_to": make.ADDRESS}})
    assert answer.status_code == 200, answer.content
    steps = answer.json()["steps"]
    assert steps
    assert all(WHY in step["why"] and step["path"] == "blocked" for step in steps)


def test_a_step_says_why_it_asks_or_runs_by_itself():
    """Guards runs/present/steps.py `_why`: the gate's word with its reasons, and the total so far."""
    house = Payers(rules=[TOTAL])
    run = house.run([pay("a", "600.00"), pay("b", "500.00")])
    shown = text(browser(house.submitter), reverse("runs:task_detail", args=[run.pk]))
    assert "It can be undone, and no rule asks a person." in shown
    assert "600.00 in this task so far, with this call 1100.00" in shown
    asked = PendingAction.everywhere.get(step_id=Step.everywhere.get(key="b").pk)
    shown = text(browser(house.approver), reverse("approvals:action", args=[asked.pk]))
    assert "600.00 in this task so far, with this call 1100.00" in shown


def test_the_editor_counts_what_was_done_today():
    """Guards tools/present/consequences.py: the same function, with totals, and a stop as it stands now."""
    house = Payers(rules=[{**TOTAL, "per": "day"}])
    house.run([pay("a", "600.00")])
    admin = bench.person(house.tenant, Role.ADMINISTRATOR, name="Jonas Weber")
    live = Contract.everywhere.select_related("tool").get(
        tenant=house.tenant, tool__name="drill.effect", status="PUBLISHED"
    )
    free = consequences(draft=live, live=live, example='{"amount": "400.00"}')
    asks = consequences(draft=live, live=live, example='{"amount": "400.01"}')
    assert free.verdict is not None
    assert asks.verdict is not None
    assert (free.verdict.tone, asks.verdict.tone) == ("running", "waiting")
    assert [fired for fired, _words in asks.rules] == [True]
    assert "1000.01" in " ".join(asks.verdict.why)
    switches.stop_tenant(tenant_id=house.tenant.pk, by=admin.pk, reason=WHY)
    held = consequences(draft=live, live=live, example='{"amount": 1}')
    assert held.verdict is not None
    assert WHY in held.verdict.why[-1]


def test_a_policy_that_lost_its_people_is_shown_on_the_page_of_tools(house):
    assert "Nobody can allow" not in text(browser(house.jonas), reverse("tools:tools"))
    Membership.everywhere.filter(user=house.ben).update(roles=["submitter"])
    assert "Nobody can allow" in text(browser(house.jonas), reverse("tools:tools"))


def _rest(house: make.House, who: User, *scopes: str) -> Rest:
    return Rest(who, house.tenant, *(scopes or ("read", "submit")))


def test_stops_over_rest(house):
    run = house.counted(2)
    jonas = _rest(house, house.jonas)
    wanted = [
        {"scope": "tenant", "reason": WHY},
        {"scope": "run", "run": public("run", run.pk), "reason": WHY},
        {"scope": "tool", "tool": "mail.send", "reason": WHY},
    ]
    for body in wanted:
        answer = jonas.post("stops/", body)
        assert (answer.status_code, answer.json()) == (200, {"changed": True, "sending": 0}), answer.content
        assert jonas.post("stops/", body).json()["changed"] is False
    rows = jonas.get("stops/").json()["results"]
    assert [(row["scope"], row["reason"], row["by"]) for row in rows] == [
        (scope, WHY, str(house.jonas)) for scope in ("tenant", "tool", "run")
    ]
    assert hands.take(hands.worker()) == []
    for body in wanted:
        assert jonas.post("stops/lift/", body).json()["changed"] is True
        assert jonas.post("stops/lift/", body).json()["changed"] is False
    assert jonas.get("stops/").json()["results"] == []
    assert len(hands.take(hands.worker())) == 1


def test_a_stop_over_rest_is_for_administrators_and_for_what_there_is(house):
    everything = {"scope": "tenant", "reason": WHY}
    assert _rest(house, house.ada).post("stops/", everything).status_code == 403
    assert _rest(house, house.jonas, "read").post("stops/", everything).status_code == 403
    jonas = _rest(house, house.jonas)
    assert jonas.post("stops/", {"scope": "tenant", "reason": " "}).status_code in (400, 422)
    assert jonas.post("stops/", {"scope": "tool", "tool": "no.such", "reason": WHY}).status_code == 404
    assert jonas.post("stops/", {"scope": "run", "run": "run_x", "reason": WHY}).status_code == 404
    foreign = make.house().counted(1)
    theirs = {"scope": "run", "run": public("run", foreign.pk), "reason": WHY}
    assert jonas.post("stops/", theirs).status_code == 404
    assert not StopSwitch.everywhere.exists()
    assert not Tool.everywhere.filter(paused_at__isnull=False).exists()
    ended = house.counted(1)
    house.finish()
    assert Run.everywhere.get(pk=ended.pk).status == "SUCCEEDED"
    body = {"scope": "run", "run": public("run", ended.pk), "reason": WHY}
    assert jonas.post("stops/", body).status_code == 409
