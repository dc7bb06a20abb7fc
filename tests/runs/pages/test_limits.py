"""Limits on the pages and over REST: set with the task, met by the run, raised by whoever takes it over."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.translation import gettext, override

from accounts.ids import public
from approvals import links
from approvals.models import Decision
from runs import sentences
from runs.models import Run
from tests.make import runs as make
from tests.make.people import browser
from tests.rest.client import Rest
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def form(client: Client, **limits: str) -> dict[str, Any]:
    file = client.post(
        "/tasks/uploads/", {"file": SimpleUploadedFile("a.txt", make.CONTRACT.encode())}
    ).json()
    return {
        "agent": "contract-review",
        "goal": "Review",
        "files": [file["id"]],
        "submit_key": str(uuid.uuid4()),
        **limits,
    }


def test_a_task_is_started_with_limits(house):
    client = browser(house.ada)
    page = client.get("/tasks/new/").content.decode()
    assert "Limits" in page
    assert 'name="limit_steps"' in page
    soon = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    given = form(client, limit_steps="7", limit_wall_seconds="30", limit_deadline=soon)
    assert client.post("/tasks/new/", given).status_code == 302
    run = Run.everywhere.get()
    assert (run.budget["steps"], run.budget["wall_seconds"]) == (7, 1800)
    assert run.budget["tool_calls"] == 120, "what was left open is what the agent declares"
    assert run.deadline.strftime("%Y-%m-%dT%H:%M") == soon
    html = client.get(f"/tasks/{public('run', run.pk)}/").content.decode()
    assert "Working time" in html
    assert "30 min" in html


@pytest.mark.parametrize(
    "limits",
    [
        {"limit_steps": "121"},
        {"limit_steps": "0"},
        {"limit_steps": "many"},
        {"limit_deadline": "2020-01-01T00:00"},
    ],
)
def test_a_limit_that_cannot_be_is_refused_at_its_field(house, limits):
    """Guards runs/engine/ceilings.py: what the agent declares is the ceiling, and a deadline is still to come."""
    client = browser(house.ada)
    answer = client.post("/tasks/new/", form(client, **limits))
    assert answer.status_code == 422
    ((name, value),) = limits.items()
    html = unescape(answer.content.decode())
    assert f'id="id_{name}_error"' in html
    assert f'value="{value}"' in html
    assert not Run.everywhere.exists()


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"steps": "121"}, "The limit steps can be 120 at most"),
        ({"steps": "1.5"}, "The limit steps must be a number"),
        ({"patience": "3"}, "no limit of that name: patience"),
        ({"cost": "NaN"}, "The limit cost must be a number"),
    ],
)
def test_rest_refuses_such_limits_too(house, limits, said):
    rest = Rest(house.ada, house.tenant, "read", "submit")
    file = rest.upload(make.CONTRACT.encode(), "a.txt").json()["id"]
    answer = rest.post(
        "tasks/", {"agent": "contract-review", "goal": "Review", "files": [file], "limits": limits}
    )
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert not Run.everywhere.exists()


def test_rest_takes_limits_and_tells_them(house):
    rest = Rest(house.ada, house.tenant, "read", "submit")
    file = rest.upload(make.CONTRACT.encode(), "a.txt").json()["id"]
    body = {
        "agent": "contract-review",
        "goal": "Review",
        "files": [file],
        "limits": {"steps": "5", "cost": "2.50"},
        "deadline": "2099-01-01T00:00:00Z",
    }
    answer = rest.post("tasks/", body, key="mine")
    assert answer.status_code == 202, answer.content
    assert answer.json()["budget"] == {"steps": 5, "tool_calls": 120, "wall_seconds": 86_400, "cost": "2.5"}
    assert answer.json()["deadline"].startswith("2099-01-01")
    assert rest.post("tasks/", {**body, "limits": {"steps": "6"}}, key="mine").status_code == 422


def exhausted(house: make.House) -> Run:
    run = house.counted(4)
    Run.everywhere.filter(pk=run.pk).update(budget={"tool_calls": 2})
    hands.run_all(house.me)
    return make.again(run)


def test_the_page_of_the_takeover_says_what_is_used_up_and_offers_more(house):
    """S11: why it paused, what is done, what is suggested, where it goes on, and what continuing adds."""
    run = exhausted(house)
    asked = house.action(run, "take_over")
    client = browser(house.ben)
    html = unescape(client.get(links.action(asked.pk)).content.decode())
    for words in (
        "2 of 2",
        "What is done and what is left",
        "add as much as it still needs",
        "last checkpoint",
    ):
        assert words in html
    assert "How many more tool calls" in html
    answer = {
        "verdict": "continue",
        "digest": asked.digest,
        "generation": asked.generation,
        "more": "",
    }
    refused = client.post(links.verb("decide", asked.pk), answer)
    assert refused.status_code == 422
    assert "Say how much more" in refused.content.decode()
    assert client.post(links.verb("decide", asked.pk), {**answer, "more": "5"}).status_code == 302
    assert Decision.everywhere.get().edited == {"limit": "tool_calls", "more": "5"}


def test_who_reads_chinese_reads_why_in_chinese(house):
    """On the task, in the inbox, on the takeover and in the history; the row keeps the English sentence."""
    run = exhausted(house)
    asked = house.action(run, "take_over")
    assert "used up its budget of tool calls" in asked.sentence
    ada, ben = browser(house.ada), browser(house.ben)
    for client in (ada, ben):
        client.cookies["countersign_language"] = "zh-hans"
    with override("zh-hans"):
        words = gettext(sentences.SPENT["tool_calls"].text) % {"used": "2", "limit": "2"}
        advice = gettext(sentences.ADD_MORE.text)
    takeover = unescape(ben.get(links.action(asked.pk)).content.decode())
    assert advice in takeover
    pages = [
        takeover,
        unescape(ben.get("/inbox/").content.decode()),
        unescape(ada.get(f"/tasks/{public('run', run.pk)}/").content.decode()),
        unescape(ada.get(f"/tasks/{public('run', run.pk)}/history/").content.decode()),
        unescape(ada.get("/tasks/").content.decode()),
    ]
    for page in pages:
        assert words in page
        assert asked.sentence not in page


def test_enough_is_offered_to_go_on_for_a_while(house):
    run = exhausted(house)
    html = browser(house.ben).get(links.action(house.action(run, "take_over").pk)).content.decode()
    assert re.search(r'name="more"[^>]*value="10"', html)


def test_rest_continues_with_more(house):
    run = exhausted(house)
    rest = Rest(house.ben, house.tenant, "read", "decide")
    path = f"actions/{public('pendingaction', house.action(run, 'take_over').pk)}/"
    tag = {"If-Match": rest.get(path)["ETag"]}
    assert rest.post(f"{path}decide/", {"verdict": "continue"}, **tag).status_code == 422
    assert rest.post(f"{path}decide/", {"verdict": "continue", "more": "5"}, **tag).status_code == 200
    from runs.engine.resume import resume_decided

    resume_decided()
    hands.run_all(house.me)
    assert make.again(run).status == "SUCCEEDED"
