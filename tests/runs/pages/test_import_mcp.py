"""Import from an MCP server: a connection, a task that asks, and drafts; and a tool whose server changed it."""

from __future__ import annotations

import json
import sys
import uuid
from typing import Any

import pytest

from accounts.errors import Refused
from accounts.models import AuditEntry
from runs.engine.submit import submit
from runs.engine.types import Outcome
from runs.models import Run, Step
from runs.node.child_io import drive
from runs.node.execute import execution
from runs.node.tool_context import StepContext
from tests.make import runs as make
from tests.make.people import browser
from tests.runs.engine import hands
from tests.tools import make as tool_make
from tools import adapters, connections
from tools.adapters.base import Failed
from tools.mcp.definition import CHANGED, definition
from tools.mcp.servers import SETTING
from tools.models import Contract, PublishRule, Tool

pytestmark = pytest.mark.django_db(transaction=True)
ENDPOINT = "https://mcp.linden.example/mcp"
READS = {
    "name": "lookUp",
    "description": "Reads\u200b a line.",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "annotations": {"readOnlyHint": True},
}
WRITES = {"name": "write-line", "annotations": {"title": "Write a line", "destructiveHint": False}}


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> make.House:
    made = make.house()
    servers = {
        "book": {"command": [sys.executable], "tenants": [made.tenant.slug]},
        "other": {"command": ["/x"], "tenants": ["x"]},
    }
    monkeypatch.setenv(SETTING, json.dumps(servers))
    return made


def asked(house: make.House, **changes: Any) -> Any:
    form = {"begins": "book", "server": "", "url": ENDPOINT, "secret": "", "submit_key": str(uuid.uuid4())}
    return browser(house.jonas).post("/mcp/import/", {**form, **changes})


def answered(*tools: dict[str, Any]) -> Run:
    """A node asked, and the server said this."""

    def act(claimed: Any) -> Any:
        said = [definition(tool, endpoint=ENDPOINT) for tool in tools]
        return hands.done(claimed, {"tools": said} if claimed.key == "step/1" else None)

    hands.run_all(hands.worker(), act)
    run: Run = Run.everywhere.get()
    return run


def test_asking_makes_a_connection_that_only_reads_and_a_task(house: make.House):
    answer = asked(house)
    run = Run.everywhere.get()
    assert answer["Location"] == f"/mcp/import/{answer['Location'].split('/')[3]}/"
    assert run.contracts.keys() == {"book.list_tools"}
    live = Contract.everywhere.select_related("tool").get(tool__name="book.list_tools")
    assert (live.status, live.effect_class, live.target) == ("PUBLISHED", "read_only", ENDPOINT)
    assert live.egress_hosts == ["mcp.linden.example"]
    assert AuditEntry.everywhere.filter(act="contract.published", actor=house.jonas).count() == 1
    page = browser(house.jonas).get(answer["Location"]).content.decode()
    assert "A worker asks the server" in page
    asked(house)
    assert Contract.everywhere.filter(tool__name="book.list_tools").count() == 1, (
        "the same again is no version"
    )


def test_a_server_of_another_tenant_is_not_offered(house: make.House):
    page = browser(house.jonas).get("/mcp/import/").content.decode()
    assert '<option value="book"' in page
    assert '<option value="other"' not in page
    assert asked(house, server="other", url="").status_code == 200
    assert asked(house, url="").status_code == 200
    assert not Run.everywhere.exists()


def test_what_was_chosen_becomes_drafts_and_hints_are_claims(house: make.House):
    where = asked(house)["Location"]
    answered(READS, WRITES)
    client = browser(house.jonas)
    page = client.get(where)
    assert [row["offered"].name for row in page.context["rows"]] == ["book.look_up", "book.write_line"]
    assert "Reads\u200b a line." not in page.content.decode(), "hidden signs are spelled out"
    client.post(where, {"tool": ["book.look_up", "book.write_line"]})
    reads, writes = (
        Contract.everywhere.select_related("tool").get(tool__name=name)
        for name in ("book.look_up", "book.write_line")
    )
    assert (reads.status, reads.effect_class, reads.policy) == ("DRAFT", "read_only", {})
    assert (writes.status, writes.effect_class, writes.policy) == (
        "DRAFT",
        "irreversible",
        {"path": "approval"},
    )
    assert writes.tool.title == "Write a line"
    assert reads.config["definition"]["description"] == READS["description"]
    assert reads.input_schema == READS["inputSchema"]
    client.post(where, {"tool": ["book.look_up"]})
    assert Contract.everywhere.filter(tool__name="book.look_up").count() == 1


def test_a_known_tool_that_is_confirmed_as_something_else_is_marked(house: make.House):
    pinned(house)
    where = asked(house)["Location"]
    answered({**READS, "description": "Reads and mails."}, WRITES)
    rows = browser(house.jonas).get(where).context["rows"]
    assert [(row["offered"].name, row["known"], row["differs"]) for row in rows] == [
        ("book.look_up", True, True),
        ("book.write_line", False, False),
    ]


def test_no_answer_says_why(house: make.House):
    where = asked(house)["Location"]
    worker = hands.worker()

    def act(claimed: Any) -> Any:
        if claimed.key != "step/1":
            return hands.done(claimed)
        plan = hands.planned(claimed, status="FAILED", code="no_answer")
        return Outcome(claimed, "failed", error_code="no_answer", error_text="It took too long.", plan=plan)

    hands.run_all(worker, act)
    assert "It took too long." in browser(house.jonas).get(where).content.decode()


def test_only_tasks_that_ask_are_shown(house: make.House):
    run, _ = submit(
        tenant_id=house.tenant.pk,
        submitter_id=house.ada.pk,
        agent="steps",
        goal="Other",
        input={"steps": [{"tool": "drill.noop"}]},
        submit_key=uuid.uuid4().hex,
    )
    where = f"/mcp/import/run_{run.pk.hex}/"
    assert browser(house.jonas).get(where).status_code == 404
    assert browser(house.ada).get("/mcp/import/").status_code in (403, 404)


def test_where_two_must_publish_the_connection_waits_as_a_draft(house: make.House):
    PublishRule.everywhere.create(tenant=house.tenant, needs_second=True, changed_by=house.jonas)
    with pytest.raises(Refused, match="two_people") as refused:
        connections.connect(tenant_id=house.tenant.pk, by=house.jonas.pk, begins="book", url=ENDPOINT)
    assert "book.list_tools is a draft now" in str(refused.value.text)
    assert Contract.everywhere.get(tool__name="book.list_tools").status == "DRAFT"


# A server that changed a tool, seen by a node


def pinned(house: make.House) -> Contract:
    said = definition(READS, endpoint=ENDPOINT)
    return tool_make.contract(
        house.tenant,
        "book.look_up",
        adapter="mcp",
        target=ENDPOINT,
        isolation="thread",
        effect_class="read_only",
        max_attempts=5,
        config={"tool": "lookUp", "definition": said},
    )


def test_b68_the_call_that_finds_a_change_ends_and_the_tool_is_quarantined(
    house: make.House, monkeypatch: pytest.MonkeyPatch
):
    """Guards ``commit`` in ``runs/engine/commit.py`` and ``_failed`` in ``runs/node/execute.py``: what the child found comes up
    with its report, nothing is tried again, and the tool is stopped before the outcome is recorded."""
    contract = pinned(house)
    run, _ = submit(
        tenant_id=house.tenant.pk,
        submitter_id=house.ada.pk,
        agent="steps",
        goal="Look it up",
        input={"steps": [{"tool": "book.look_up"}]},
        submit_key=uuid.uuid4().hex,
    )
    found = {**contract.config["definition"], "description": "Reads a line and mails it."}

    class Changed:
        @staticmethod
        def prepare(spec: Any, arguments: Any, tenant: Any) -> None:
            raise Failed(CHANGED, "It is not what was confirmed.", facts={"found": found, "changed": []})

    worker = hands.worker()

    def act(claimed: Any) -> Any:
        if claimed.key != "step/1":
            return hands.done(claimed)
        work = hands.sent_down(claimed)
        work.start_by = work.lease_until = float("inf")
        monkeypatch.setattr(adapters, "get", lambda name: Changed)
        report = drive(execution(work, StepContext(work)), None)
        plan = hands.planned(claimed, status="FAILED", code=report.error_code)
        return Outcome(
            claimed,
            report.ending,  # type: ignore[arg-type]
            report.output,
            error_code=report.error_code,
            error_text=report.error_text,
            plan=plan,
        )

    hands.run_all(worker, act)
    tool = Tool.everywhere.get(pk=contract.tool_id)
    assert tool.drifted is not None
    assert tool.drifted["found"] == found
    assert Step.everywhere.get(run=run, key="step/1").status == "FAILED"
    run.refresh_from_db()
    assert run.status == "FAILED"
