"""Test calls: a tool that only reads is tried from the editor of its contract, by a node and never by the web process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.errors import Refused
from accounts.ids import public
from accounts.models import AuditEntry, Role
from runs.models import Run
from runs.verbs.test_call import test_call as call
from tests.make import people
from tests.rest.client import Rest
from tests.runs.engine import hands
from tests.tools import make
from tools import samples

pytestmark = pytest.mark.django_db(transaction=True)


class Desk:
    """A tenant with the sample tools, and its administrator."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        make.person(self.tenant, Role.APPROVER)
        self.admin = make.person(self.tenant, Role.ADMINISTRATOR, name="Jonas Weber")
        samples.seed(self.tenant)
        self.browser = people.browser(self.admin)

    def post(self, tool: str, example: Any) -> str:
        text = example if isinstance(example, str) else json.dumps(example)
        return self.browser.post(f"/tasks/test-calls/{tool}/", {"example": text}).content.decode()

    def state(self, run: Run) -> str:
        return self.browser.get(f"/tasks/{public('run', run.pk)}/test-call/").content.decode()


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_tool_that_reads_is_called_by_a_node_and_the_answer_is_shown(desk: Desk):
    assert "Call version 1 with it" in desk.browser.get("/tools/drill.noop/").content.decode()
    page = desk.post("drill.noop", {"a": 1})
    assert "Waiting for a node" in page
    assert "hx-get" in page
    run = Run.everywhere.get(agent="tool-test")
    answer = {"a": "<script>alert(1)</script>", "long": "x" * 20_000}
    hands.run_all(hands.worker(), lambda claimed: hands.done(claimed, answer))
    run.refresh_from_db()
    assert run.status == "SUCCEEDED"
    page = desk.state(run)
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "The rest is left out here." in page
    assert "hx-get" not in page
    entry = AuditEntry.everywhere.get(act="run.submitted", run_id=run.pk)
    assert (entry.actor, entry.payload["goal"]) == (desk.admin, "drill.noop v1")


def test_an_effect_is_never_tried(desk: Desk):
    """Guards ``runs/verbs/test_call.py``: only what reads is called from the editor."""
    for tool in ("mail.send", "drill.effect", "drill.effect_final"):
        assert "changes the world" in desk.post(tool, {})
        assert "No test call" in desk.browser.get(f"/tools/{tool}/").content.decode()
    assert not Run.everywhere.exists()


@pytest.mark.parametrize(
    ("tool", "example", "words"),
    [("drill.noop", "{", "no JSON"), ("drill.noop", "[]", "in braces"), ("nothing.here", "{}", "in force")],
)
def test_what_cannot_be_called_is_said_and_nothing_is_started(desk: Desk, tool, example, words):
    make.tool(desk.tenant, "nothing.here")
    assert words in desk.post(tool, example)
    assert not Run.everywhere.exists()


def test_only_administrators_try_tools_and_the_list_of_tasks_leaves_them_out(desk: Desk):
    ada = make.person(desk.tenant, Role.SUBMITTER, Role.APPROVER)
    with pytest.raises(Refused):
        call(tenant_id=desk.tenant.pk, by=ada.pk, tool="drill.noop", arguments={})
    assert people.browser(ada).post("/tasks/test-calls/drill.noop/", {}).status_code == 403
    run = call(tenant_id=desk.tenant.pk, by=desk.admin.pk, tool="drill.noop", arguments={})
    assert public("run", run.pk) not in desk.browser.get("/tasks/").content.decode()
    rest = Rest(desk.admin, desk.tenant, "read")
    assert rest.get("tasks/").json()["results"] == []
    assert "tool-test" not in rest.get("agents/").content.decode()
    other = hands.counter_run(desk.tenant, ada, steps=1)
    assert desk.browser.get(f"/tasks/{public('run', other.pk)}/test-call/").status_code == 404
