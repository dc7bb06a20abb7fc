"""The agent that calls what a person chose: its form, its plan, its runs, also over REST."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from accounts.ids import public
from runs.agents.base import Context, Fail, StepView
from runs.agents.steps import Steps
from runs.engine.submit import submit
from runs.errors import BadTask
from runs.models import Run, Step
from tests.make import runs as make
from tests.make.people import browser
from tests.rest.client import Rest
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db(transaction=True)
EFFECT = {"tool": "drill.effect_final", "arguments": {}}


@pytest.fixture
def house() -> make.House:
    return make.house()


def filled(*calls: tuple[str, str], **changes: Any) -> dict[str, Any]:
    rows: dict[str, str] = {}
    for place, (tool, arguments) in enumerate(calls):
        rows |= {f"in_steps-{place}-tool": tool, f"in_steps-{place}-arguments": arguments}
    return {"agent": "steps", "goal": "Try them", "submit_key": str(uuid.uuid4()), **rows, **changes}


def run_of(house: make.House, *steps: dict[str, Any]) -> Run:
    run, _ = submit(
        tenant_id=house.tenant.pk,
        submitter_id=house.ada.pk,
        agent="steps",
        goal="Try them",
        input={"steps": list(steps)},
        submit_key=uuid.uuid4().hex,
    )
    return run


def test_the_form_offers_tools_by_title_and_starts_what_was_chosen(house):
    client = browser(house.ada)
    page = client.get("/tasks/new/?agent=steps").content.decode()
    assert '<option value="mail.send"' in page
    assert '<option value="drill.noop"' not in page
    letter = json.dumps({"to": "ann@aldergate.example", "subject": "Hello", "text": "Dear Ann"})
    answer = client.post("/tasks/new/", filled(("mail.send", letter), ("", "")))
    assert answer.status_code == 302, answer.content.decode()
    assert Run.everywhere.get().input == {"steps": [{"tool": "mail.send", "arguments": json.loads(letter)}]}


def test_the_plan_says_what_the_gate_says_of_each_step(house):
    client = browser(house.ada)
    form = filled(
        ("mail.send", '{"to": "ann@aldergate.example", "subject": "S", "text": "T"}'), ("mail.send", "{}")
    )
    plan = client.post("/tasks/preview/", form).context["plan"]
    assert [step.path for step in plan] == ["approval", "blocked"]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (("mail.send", "{"), "Step 1: the arguments are no JSON"),
        (("mail.send", "[]"), "in braces"),
        (("nothing.known", "{}"), "choose a tool"),
        (("", "{}"), "choose a tool"),
        (("", ""), "missing|required"),
    ],
)
def test_rows_that_make_no_call_are_sent_back_with_what_was_typed(house, row, why):
    answer = browser(house.ada).post("/tasks/new/", filled(row))
    assert answer.status_code == 422
    said = " ".join(str(text) for text in answer.context["form"].errors["in_steps"])
    assert any(word in said for word in why.split("|")), said
    assert row[1] in answer.content.decode().replace("&quot;", '"')
    assert not Run.everywhere.exists()


def test_steps_run_one_after_the_other_to_the_end(house):
    run = run_of(house, {"tool": "drill.noop"}, {"tool": "drill.noop", "arguments": {"n": 2}})
    seen = []

    def act(claimed):
        seen.append(claimed.key)
        return hands.done(claimed, {})

    hands.run_all(hands.worker(), act)
    run.refresh_from_db()
    assert (run.status, run.result) == ("SUCCEEDED", {"steps": ["drill.noop", "drill.noop"]})
    assert [key for key in seen if key.startswith("step/")] == ["step/1", "step/2"]


def test_what_a_tool_said_stands_at_its_step(house):
    """As text and cut: it is data from outside."""
    run = run_of(house, {"tool": "drill.noop"})
    said = {"rate": "1.0832", "note": "<b>bold</b>", "then_more": "x" * 9_000}
    hands.run_all(hands.worker(), lambda claimed: hands.done(claimed, said))
    html = browser(house.ada).get(f"/tasks/{public('run', run.pk)}/").content.decode()
    assert "What it said" in html
    assert "1.0832" in html
    assert "<b>bold</b>" not in html
    assert html.count("x" * 100) < 60


def test_what_cannot_be_undone_waits_for_a_person(house):
    run = run_of(house, EFFECT, {"tool": "drill.noop"})
    hands.run_all(hands.worker())
    assert Step.everywhere.get(run=run, key="step/1").status == "WAITING_APPROVAL"
    assert not Step.everywhere.filter(run=run, key="step/2").exists()


def test_the_first_step_that_does_not_succeed_ends_the_task():
    ended = StepView("step/1", "call", "mail.send", "FAILED", error_code="rejected", error_text="Not now.")
    given = {"steps": [{"tool": "mail.send"}, {"tool": "mail.send"}]}
    said = Steps().next(Context("Try", given, {}, recent=[ended], ended=1))
    assert said == [Fail("rejected", "Step 1 (mail.send): Not now.")]


def test_a_tool_that_is_not_in_force_is_refused_at_once(house):
    with pytest.raises(BadTask, match=r"nothing\.known"):
        run_of(house, {"tool": "nothing.known"})
    assert not Run.everywhere.exists()


def test_over_rest_it_takes_the_same_list(house):
    ada = Rest(house.ada, house.tenant, "read", "submit")
    assert "steps" in [agent["name"] for agent in ada.get("agents/").json()["results"]]
    body = {"agent": "steps", "goal": "Try them", "input": {"steps": [{"tool": "drill.noop"}]}}
    assert ada.post("tasks/", body).status_code == 202
    assert Run.everywhere.get().agent == "steps"
