"""Questions of an agent to people: the answer is the output of the step that asked."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from accounts.models import Role, Tenant, User
from approvals.decide import decide
from approvals.errors import BadAnswer, Expired, NotAllowed
from approvals.models import Decision, PendingAction
from runs import timeline
from runs.engine.cancel import cancel
from runs.engine.expire import expire_due
from runs.engine.resume import resume, resume_decided
from runs.models import Run, Step
from tests.make import people
from tests.rest.client import Rest
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

SCHEMA = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "title": "Amount", "minimum": 1},
        "urgent": {"type": "boolean", "title": "Urgent"},
        "currency": {"enum": ["EUR", "USD"], "title": "Currency"},
    },
    "required": ["amount", "currency"],
    "additionalProperties": False,
}
ASK = {
    "do": "ask",
    "key": "ask",
    "question": "How much may it cost?",
    "schema": SCHEMA,
    "why": "No limit was given.",
}
ANSWER = {"amount": 40, "currency": "EUR"}


class House:
    def __init__(self) -> None:
        self.tenant: Tenant = make.tenant()
        self.ada: User = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        self.ben: User = make.person(self.tenant, Role.APPROVER, name="Ben")
        samples.seed(self.tenant)
        self.me = hands.worker()

    def run(self, *rounds: list[dict[str, Any]]) -> Run:
        run = hands.script_run(self.tenant, self.ada, *rounds)
        hands.run_all(self.me)
        return again(run)

    def answer(self, action: PendingAction, by: User, verdict: str = "answer", **more: Any) -> Decision:
        seen = {"digest": action.digest, "generation": action.generation, "gesture": action.second_gesture}
        given = {"channel": "web", "authenticated": "password", "fresh": True, **seen}
        return decide(action_id=action.pk, user_id=by.pk, verdict=verdict, **{**given, **more})


@pytest.fixture
def house() -> House:
    return House()


def again(run: Run) -> Run:
    found: Run = Run.everywhere.get(pk=run.pk)
    return found


def asked(run: Run) -> PendingAction:
    found: PendingAction = PendingAction.everywhere.get(run_id=run.pk)
    return found


def step(run: Run, key: str = "ask") -> Step:
    found: Step = Step.everywhere.get(run=run, key=key)
    return found


def test_the_answer_is_the_output_of_the_step(house: House) -> None:
    run = house.run([ASK])
    assert (run.status, run.waiting_on) == ("WAITING_APPROVAL", "How much may it cost?")
    house.answer(asked(run), house.ada, answer=ANSWER)
    assert resume_decided() == 1
    hands.run_all(house.me)
    assert (step(run).status, step(run).output) == ("SUCCEEDED", ANSWER)
    assert again(run).status == "SUCCEEDED"
    assert timeline.verify(run.pk) == []


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"amount": 0, "currency": "EUR"},
        {**ANSWER, "more": 1},
        {"amount": "40", "currency": "EUR"},
        [],
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_nothing_has_changed(house: House, answer: Any) -> None:
    run = house.run([ASK])
    with pytest.raises(BadAnswer):
        house.answer(asked(run), house.ada, answer=answer)
    assert asked(run).status == "OPEN"
    assert resume_decided() == 0


def test_who_may_answer_is_said_by_the_agent(house: House) -> None:
    """To submitters the submitter may answer; to approvers never (four eyes)."""
    own, other = house.run([ASK]), house.run([{**ASK, "role": "approver"}])
    with pytest.raises(NotAllowed):
        house.answer(asked(own), house.ben, answer=ANSWER)
    with pytest.raises(NotAllowed):
        house.answer(asked(other), house.ada, answer=ANSWER)
    house.answer(asked(own), house.ada, answer=ANSWER)
    house.answer(asked(other), house.ben, answer=ANSWER)
    assert resume_decided() == 2


def test_silence_ends_the_step_as_expired(house: House) -> None:
    run = house.run([{**ASK, "seconds": 60}])
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE approvals_pendingaction SET expires_at = clock_timestamp() - interval '1 second'"
        )
    with pytest.raises(Expired):
        house.answer(asked(run), house.ada, answer=ANSWER)
    assert expire_due() == 1
    assert (step(run).status, step(run).error_code) == ("FAILED", "expired")
    hands.run_all(house.me)
    assert (again(run).result or {})["last"] == {"ask": "FAILED"}


def test_cancel_withdraws_the_question(house: House) -> None:
    run = house.run([ASK])
    cancel(run_id=run.pk, user_id=house.ada.pk)
    assert (asked(run).status, step(run).status) == ("WITHDRAWN", "CANCELLED")


@pytest.mark.parametrize(
    "bad",
    [
        {"schema": {"type": "array"}},
        {"schema": {"type": 7}},
        {"question": "  "},
        {"role": "king"},
    ],
)
def test_a_question_that_cannot_be_put_ends_in_a_takeover(house: House, bad: dict[str, Any]) -> None:
    run = house.run([{**ASK, **bad}])
    assert asked(run).kind == "take_over"
    assert not Step.everywhere.filter(run=run, key="ask").exists()


def test_the_page_has_a_form_of_the_schema_and_takes_the_answer(house: House) -> None:
    run = house.run([ASK])
    action, browser = asked(run), people.browser(house.ada)
    address = f"/inbox/act_{action.pk.hex}/"
    page = browser.get(address).content.decode()
    assert 'name="in_amount"' in page
    assert "No limit was given." in page
    seen = {"verdict": "answer", "digest": action.digest, "generation": action.generation}
    wrong = browser.post(f"{address}decide/", {**seen, "in_amount": "0", "in_currency": "EUR"})
    assert wrong.status_code == 422
    assert asked(run).status == "OPEN"
    right = browser.post(
        f"{address}decide/", {**seen, "in_amount": "40", "in_currency": "EUR", "in_urgent": "on"}
    )
    assert right.status_code == 302
    assert Decision.everywhere.get(action=action).answer == {**ANSWER, "urgent": True}
    assert "40" in browser.get(address).content.decode()


def test_rest_takes_the_answer_and_signals(house: House) -> None:
    run = house.run([ASK], [{"do": "wait", "key": "paid", "signal": "paid"}])
    ada = Rest(house.ada, house.tenant, "read", "signal")
    action = asked(run)
    with pytest.raises(NotAllowed):
        house.answer(action, house.ben, answer=ANSWER)
    house.answer(action, house.ada, answer=ANSWER)
    resume_decided()
    hands.run_all(house.me)
    address = f"tasks/run_{run.pk.hex}/signals/"
    body = {"name": "paid", "external_id": "bank-1", "payload": {"amount": 40}}
    assert ada.post(address, body, key="one").json() == {"received": "taken"}
    assert ada.post(address, body, key="one").json() == {"received": "taken"}, "the same request"
    assert ada.post(address, body, key="two").json() == {"received": "repeated"}, "the same signal"
    assert ada.post(address, {**body, "payload": 4}, key="three").status_code == 400
    assert Rest(house.ada, house.tenant, "read", "submit").post(address, body).status_code == 403
    hands.run_all(house.me)
    assert again(run).status == "SUCCEEDED"


def test_rest_decides_with_a_value(house: House) -> None:
    run = house.run([{**ASK, "role": "approver"}])
    ben = Rest(house.ben, house.tenant, "read", "decide")
    address = f"actions/act_{asked(run).pk.hex}/"
    tag = {"If-Match": ben.get(address)["ETag"]}
    assert ben.post(f"{address}decide/", {"verdict": "answer"}, **tag).status_code == 422
    done = ben.post(f"{address}decide/", {"verdict": "answer", "answer": ANSWER}, **tag)
    assert done.status_code == 200, done.content
    assert Decision.everywhere.get(action=asked(run)).answer == ANSWER


def test_b18_each_answer_reaches_its_own_call(house: House) -> None:
    """Guards `approvals/decide.py: _intent` and `runs/engine/resume.py: resume`: an answer is bound to one action, that to
    one intent and one step, however alike the questions are."""
    keys = ["first", "second", "third"]
    run = house.run([{"do": "call", "key": key, "tool": "drill.effect_final"} for key in keys])
    actions = {
        str(Step.everywhere.get(pk=a.step_id).key): a for a in PendingAction.everywhere.filter(run_id=run.pk)
    }
    assert set(actions) == set(keys)
    house.answer(actions["third"], house.ben, "approve")
    house.answer(actions["first"], house.ben, "reject", comment="Not this one.")
    house.answer(actions["second"], house.ben, "approve")
    resume_decided()
    claimed = {one.key: one for one in hands.take(house.me) if one.kind == "call"}
    assert set(claimed) == {"second", "third"}
    for one in claimed.values():
        hands.put(house.me, hands.sent(house.me, one))
    hands.run_all(house.me)
    assert {key: step(run, key).output for key in keys} == {
        "first": None,
        "second": {"said": "second"},
        "third": {"said": "third"},
    }
    rejected = Intent.everywhere.get(pk=step(run, "first").intent_id)
    assert (rejected.status, rejected.dispatched_at) == ("VOIDED", None)
    assert {i.grant for i in Intent.everywhere.filter(run_id=run.pk)} >= {
        actions["second"].pk,
        actions["third"].pk,
    }


def test_b26_an_answer_whose_bell_was_lost_is_found(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards `runs/engine/resume.py: resume_decided`: what was decided and not applied is looked for, bell or not."""
    run = house.run([ASK])

    def killed(name: str) -> None:
        if name == "decided.committed":
            raise KeyboardInterrupt

    monkeypatch.setattr("approvals.decide.fp", killed)
    with pytest.raises(KeyboardInterrupt):
        house.answer(asked(run), house.ada, answer=ANSWER)
    assert step(run).status == "WAITING_APPROVAL"
    assert resume_decided() == 1
    assert resume_decided() == 0
    assert not resume(action_id=asked(run).pk), "applied once"
    hands.run_all(house.me)
    assert again(run).status == "SUCCEEDED"


def test_every_page_of_a_task_that_asks_and_waits_can_be_read(house: House) -> None:
    run = house.run([ASK, {"do": "wait", "key": "paid", "signal": "paid"}])
    browser, task = people.browser(house.ada), f"/tasks/run_{run.pk.hex}/"
    pages = ["/inbox/", "/inbox/?tab=decided", "/tasks/", task, f"{task}steps/", f"{task}history/"]
    for page in pages:
        assert browser.get(page).status_code == 200, page
    assert "How much may it cost?" in browser.get("/inbox/").content.decode()
    assert "How much may it cost?" in browser.get(task).content.decode()
    house.answer(asked(run), house.ada, answer=ANSWER)
    resume_decided()
    for page in pages:
        assert browser.get(page).status_code == 200, page
    assert "paid" in browser.get(task).content.decode()
