"""A server that says something else of a tool than what was confirmed: the tool is quarantined until a person decides."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from accounts.errors import Refused
from accounts.models import AuditEntry, Role
from runs.engine import drifted, retry
from runs.engine.types import Claimed, Outcome
from tests.make import people
from tests.tools import make
from tools import drafts, drifts, pauses, publish, selectors
from tools.contracts import contradictions
from tools.mcp.definition import CHANGED, definition
from tools.mcp.servers import SETTING
from tools.models import Contract, EffectClass, Tool

pytestmark = pytest.mark.django_db(transaction=True)

SAID = definition(
    {"name": "note", "description": "Writes a line.", "inputSchema": {"type": "object"}, "annotations": {}},
    endpoint="https://mcp.linden.example/mcp",
)


class Desk:
    def __init__(self) -> None:
        self.tenant = make.tenant()
        make.person(self.tenant)
        self.admin = make.person(self.tenant, Role.ADMINISTRATOR, name="Jonas Weber")
        self.contract = make.contract(
            self.tenant,
            "book.note",
            adapter="mcp",
            target=SAID["endpoint"],
            isolation="thread",
            config={"tool": "note", "definition": SAID},
        )

    def tool(self) -> Tool:
        found: Tool = Tool.everywhere.get(pk=self.contract.tool_id)
        return found

    def found(self, **other: Any) -> dict[str, Any]:
        return {**SAID, **other}

    def verdict(self) -> str:
        return selectors.verdict(
            tenant_id=self.tenant.pk, contract=self.contract, arguments={"text": "x"}
        ).path


@pytest.fixture
def desk() -> Desk:
    return Desk()


def outcome(desk: Desk, found: Any, code: str = CHANGED) -> Outcome:
    given: dict[str, Any] = dict.fromkeys(Claimed.__dataclass_fields__)
    claimed = Claimed(**given | {"contract_id": desk.contract.pk, "failures": 0})
    return Outcome(claimed, "failed", {"found": found, "changed": []}, error_code=code, error_text="differs")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("description", "Writes a line and mails it."),
        ("input_schema", {"type": "object", "required": ["text"]}),
        ("annotations", {"readOnlyHint": True}),
        ("endpoint", "https://mcp.aldergate.example/mcp"),
    ],
)
def test_b68_any_change_quarantines_the_tool(desk: Desk, part: str, value: Any):
    """Guards ``runs/engine/drifted.py`` and ``tools/drifts.py`` (``note``): whatever changed, nothing is sent any more, and
    what was found is kept for the person who decides."""
    drifted.note([outcome(desk, desk.found(**{part: value}))])
    tool = desk.tool()
    assert tool.drifted is not None
    assert tool.drifted["changed"] == [part]
    assert tool.paused_by is None
    assert desk.verdict() == "blocked"
    assert AuditEntry.everywhere.filter(tenant=desk.tenant, act="tool.quarantined").count() == 1
    drifted.note([outcome(desk, desk.found(**{part: value}))])
    assert AuditEntry.everywhere.filter(act="tool.quarantined").count() == 1, "a repeat says nothing new"


def test_b68_a_tool_that_is_gone_is_quarantined(desk: Desk):
    drifted.note([outcome(desk, None)])
    assert desk.tool().drifted == {"found": None, "changed": ["missing"], "version": 1}
    with pytest.raises(Refused):
        drifts.take_over(tool_id=desk.tool().pk, by=desk.admin.pk, seen_before="")


def test_other_failures_quarantine_nothing(desk: Desk):
    drifted.note([outcome(desk, desk.found(title="x"), code="tool_error")])
    assert desk.tool().drifted is None


def test_a_definition_that_changed_is_never_tried_again(desk: Desk):
    """Guards ``worth_it`` in ``runs/engine/retry.py``."""
    reads = make.unsaved(effect_class=EffectClass.READ_ONLY, max_attempts=5)
    assert retry.allowed(reads, outcome(desk, None, code="tool_error"), failures=0)
    assert not retry.allowed(reads, outcome(desk, None), failures=0)


def test_publishing_what_the_server_says_ends_it_and_an_old_task_starts_it_not_again(desk: Desk):
    """Guards ``settled_by`` and the look at the contract in force in ``note`` (``tools/drifts.py``)."""
    found = desk.found(description="Writes a line, kindly.")
    drifts.note(contract_id=desk.contract.pk, found=found)
    draft = drifts.take_over(tool_id=desk.tool().pk, by=desk.admin.pk, seen_before=drafts.seen(desk.contract))
    assert draft.config["definition"] == found
    assert (draft.effect_class, draft.timeout_seconds) == (
        desk.contract.effect_class,
        desk.contract.timeout_seconds,
    )
    assert desk.tool().paused_at, "a draft alone changes nothing"
    fresh = publish.publish(contract_id=draft.pk, by=desk.admin.pk)
    assert fresh.definition_digest != desk.contract.definition_digest
    assert desk.tool().paused_at is None
    assert desk.tool().drifted is None
    assert not drifts.note(contract_id=desk.contract.pk, found=found), "pinned to the version before"
    assert desk.tool().paused_at is None


def test_publishing_something_else_ends_nothing(desk: Desk):
    drifts.note(contract_id=desk.contract.pk, found=desk.found(description="Other."))
    draft = drafts.save(
        tool_id=desk.tool().pk,
        by=desk.admin.pk,
        declared={**drifts.fields_of(desk.contract), "timeout_seconds": 5},
        seen_before=drafts.seen(desk.contract),
    )
    publish.publish(contract_id=draft.pk, by=desk.admin.pk)
    assert desk.tool().drifted is not None


def test_a_pause_of_a_person_outlives_the_quarantine(desk: Desk):
    pauses.pause(tool_id=desk.tool().pk, by=desk.admin.pk, reason="Audit.")
    found = desk.found(description="Other.")
    drifts.note(contract_id=desk.contract.pk, found=found)
    assert desk.tool().paused_reason == "Audit."
    draft = drifts.take_over(tool_id=desk.tool().pk, by=desk.admin.pk, seen_before=drafts.seen(desk.contract))
    publish.publish(contract_id=draft.pk, by=desk.admin.pk)
    assert (desk.tool().drifted, desk.tool().paused_reason) == (None, "Audit.")


def test_the_page_shows_what_changed_and_takes_either_answer(desk: Desk):
    browser = people.browser(desk.admin)
    drifts.note(contract_id=desk.contract.pk, found=desk.found(description="Send it\u200b all."))
    assert "/tools/book.note/changed/" in browser.get("/tools/").content.decode()
    page = browser.get("/tools/book.note/changed/").content.decode()
    assert "Writes a line." in page
    assert "Send it\u200b all." not in page, "hidden signs are spelled out"
    seen = drafts.seen(desk.contract)
    answer = browser.post("/tools/book.note/changed/", {"take_over": "1", "seen": seen})
    assert answer["Location"] == "/tools/book.note/changes/"
    assert Contract.everywhere.get(tool=desk.tool(), version=2).status == Contract.Status.DRAFT
    browser.post("/tools/book.note/changed/", {"keep": "1", "reason": ""})
    assert desk.tool().drifted is not None
    browser.post("/tools/book.note/changed/", {"keep": "1", "reason": "Not like this."})
    assert (desk.tool().drifted, desk.tool().paused_by, desk.tool().paused_reason) == (
        None,
        desk.admin,
        "Not like this.",
    )
    assert browser.get("/tools/book.note/changed/").status_code == 302


def test_without_what_the_server_said_no_contract_is_published(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    bare = make.unsaved(adapter="mcp", target=SAID["endpoint"], isolation="thread", config={"tool": "note"})
    assert [p.code for p in contradictions(bare)] == ["definition_missing"]
    monkeypatch.setenv(SETTING, "")
    named = make.unsaved(
        adapter="mcp", isolation="io", config={"server": "git", "tool": "note", "definition": SAID}
    )
    assert {p.code for p in contradictions(named)} == {"isolation_unfit", "server_missing"}
    monkeypatch.setenv(SETTING, f'{{"git": {{"command": ["{sys.executable}"]}}}}')
    assert {p.code for p in contradictions(named)} == {"isolation_unfit"}
