"""The pages of administrators about tools: what a change of a contract means is seen before it is in force."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEntry, Group, Role
from tests.make import people
from tests.runs.engine import hands
from tests.tools import make
from tools import drafts, pauses, samples, selectors, vault
from tools.models import Contract, Secret, Tool

pytestmark = pytest.mark.django_db(transaction=True)


class Desk:
    """A tenant with the sample tools, its administrator, and what the administrator's browser does."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        make.person(self.tenant, Role.APPROVER)
        self.admin = make.person(self.tenant, Role.ADMINISTRATOR, name="Jonas Weber")
        samples.seed(self.tenant)
        self.browser: Client = people.browser(self.admin)

    def get(self, path: str) -> str:
        answer = self.browser.get(path)
        assert answer.status_code == 200, (path, answer.status_code)
        return answer.content.decode()

    def form(self, name: str, **changes: Any) -> dict[str, Any]:
        """What the browser would send of the editor, with some entries changed."""
        context = self.browser.get(f"/tools/{name}/").context
        sent: dict[str, Any] = {"seen": context["seen"], "example": context["example"]}
        for form in (context["form"], context["policy"], context["rules"].management_form, *context["rules"]):
            for field in form:
                value = field.value()
                if value is not None and value is not False:
                    sent[field.html_name] = value
        return {key: value for key, value in {**sent, **changes}.items() if value is not None}

    def save(self, name: str, **changes: Any) -> Any:
        return self.browser.post(f"/tools/{name}/", self.form(name, **changes), follow=True)

    def tool(self, name: str) -> Tool:
        found: Tool = Tool.everywhere.get(tenant=self.tenant, name=name)
        return found

    def live(self, name: str) -> Contract:
        found = selectors.contract_for(tenant_id=self.tenant.pk, tool=name)
        assert found is not None
        return found


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_register_tells_the_path_of_every_tool_and_why(desk: Desk):
    page, drills = desk.get("/tools/"), desk.get("/tools/?kind=drills")
    for tool in Tool.everywhere.filter(tenant=desk.tenant):
        there = drills if tool.is_drill else page
        assert f'href="/tools/{tool.name}/"' in there
        assert f'href="/tools/{tool.name}/"' not in (page if tool.is_drill else drills)
    assert "It cannot be undone." in page
    assert "It only reads." in page
    assert "Cannot be undone" in desk.get("/tools/?kind=irreversible")
    assert "mail.send" not in desk.get("/tools/?kind=read_only")


def test_what_is_opened_and_saved_unchanged_says_the_same(desk: Desk):
    """No field is lost or turned by the form: the round trip of every sample contract changes nothing."""
    for name in ("mail.send", "drill.effect_keyed", "drill.noop"):
        desk.save(name)
        live, draft = drafts.current(tool=desk.tool(name))
        assert draft is not None
        assert live is not None
        assert drafts.content(draft) == drafts.content(live)
        assert "says the same" in desk.get(f"/tools/{name}/changes/")


def test_a_draft_is_saved_reviewed_and_published(desk: Desk):
    before = desk.live("mail.send")
    rule = {
        "rule-0-argument": "to",
        "rule-0-comparison": "is",
        "rule-0-value": "all@everywhere.example",
        "rule-0-then": "blocked",
        "rule-0-why": "Never to everybody.",
    }
    answer = desk.save("mail.send", quorum="1", max_attempts="1", review="1", **rule)
    assert answer.redirect_chain[-1][0] == "/tools/mail.send/changes/"
    page = answer.content.decode()
    assert "Never to everybody." in page
    assert desk.live("mail.send").pk == before.pk, "a draft is not in force"
    assert "This example is made up" in page
    typed = '{"to": "all@everywhere.example", "subject": "s", "text": "t"}'
    judged = desk.save("mail.send", quorum="1", max_attempts="1", review="1", example=typed, **rule)
    assert "A rule of the tool forbids it: Never to everybody." in judged.content.decode()
    assert "all@everywhere.example" in judged.content.decode().partition("For the example")[2]
    desk.browser.post("/tools/mail.send/changes/", {"seen": answer.context["seen"]})
    now = desk.live("mail.send")
    assert now.version == before.version + 1
    assert now.policy["rules"][0]["then"] == "blocked"
    assert now.published_by == desk.admin
    acts = set(AuditEntry.everywhere.filter(tenant=desk.tenant).values_list("act", flat=True))
    assert {"contract.drafted", "contract.published"} <= acts
    assert "Never to everybody." in desk.get("/tools/mail.send/history/")


def test_the_group_and_the_times_are_typed_as_people_write_them(desk: Desk):
    """Guards tools/forms/policy.py and tools/present/path.py: what is typed, stored, told and refused."""
    Group.everywhere.create(tenant=desk.tenant, name="Finance")
    typed = {"group": "Finance", "remind_after": "4", "escalate_after": "1 d", "editor_may_approve": "on"}
    page = desk.save("mail.send", review="1", **typed).content.decode()
    _, draft = drafts.current(tool=desk.tool("mail.send"))
    assert draft is not None
    assert draft.policy == {
        "group": "Finance",
        "remind_after_seconds": 14_400,
        "escalate_after_seconds": 86_400,
        "editor_may_approve": True,
    }
    for words in (
        "in the group Finance",
        "They are reminded after 4 h.",
        "It goes to the escalation owner after 1 day.",
        "Nobody is in the group Finance, so nobody could agree.",
    ):
        assert words in page, words
    assert 'value="1 day"' in desk.get("/tools/mail.send/")
    sent = desk.form("mail.send", escalate_after="9 days")
    told = desk.browser.post("/tools/mail.send/consequences/", sent).content.decode()
    assert "when it has expired already" in told
    unread = desk.save("mail.send", remind_after="soon").content.decode()
    assert "A time is needed, such as 4 h, 30 min, 2 days or 1 d 12 h." in unread
    assert 'value="soon"' in unread


def test_nobody_overwrites_what_they_have_not_seen(desk: Desk):
    stale = desk.form("mail.send", timeout_seconds="7")
    desk.save("mail.send", timeout_seconds="9")
    answer = desk.browser.post("/tools/mail.send/", stale)
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "Somebody else saved this draft meanwhile" in page
    assert 'name="timeout_seconds" value="7"' in page, "what was typed is kept"
    assert [(row.then, row.now) for row in answer.context["clash"]] == [("9", "7")]
    _, draft = drafts.current(tool=desk.tool("mail.send"))
    assert draft is not None
    assert draft.timeout_seconds == 9
    desk.browser.post("/tools/mail.send/", {**stale, "seen": answer.context["seen"]})
    draft.refresh_from_db()
    assert draft.timeout_seconds == 7, "having seen theirs, they may put their own in its place"


def test_only_what_was_shown_is_published(desk: Desk):
    shown = desk.save("mail.send", timeout_seconds="7", review="1").context["seen"]
    desk.save("mail.send", timeout_seconds="9")
    desk.browser.post("/tools/mail.send/changes/", {"seen": shown})
    assert desk.live("mail.send").timeout_seconds not in (7, 9)


def test_a_contradiction_is_told_at_once_and_stops_publishing(desk: Desk):
    sent = desk.form("mail.send", native_idempotency="on", key_memory_seconds="60")
    told = desk.browser.post("/tools/mail.send/consequences/", sent).content.decode()
    assert "forgets a key after 60 s" in told
    assert not Contract.everywhere.filter(tenant=desk.tenant, status="DRAFT").exists(), (
        "asking stores nothing"
    )
    answer = desk.save("mail.send", native_idempotency="on", key_memory_seconds="60", review="1")
    assert "It cannot be published as it is" in answer.content.decode()
    desk.browser.post("/tools/mail.send/changes/", {"seen": answer.context["seen"]})
    assert desk.live("mail.send").key_memory_seconds == 0


def test_a_quorum_that_nobody_can_reach_is_told(desk: Desk):
    told = desk.browser.post("/tools/mail.send/consequences/", desk.form("mail.send", quorum="5"))
    assert "needs 5 people who may agree" in told.content.decode()


def test_the_example_is_judged_by_the_draft_and_compared_with_what_is_in_force(desk: Desk):
    rule = {
        "rule-0-argument": "amount",
        "rule-0-comparison": "over",
        "rule-0-value": "500",
        "rule-0-then": "blocked",
    }
    for amount, word in (("740", "Blocked"), ("400", "person must agree")):
        sent = desk.form("drill.effect_final", example=f'{{"amount": {amount}}}', **rule)
        told = desk.browser.post("/tools/drill.effect_final/consequences/", sent).content.decode()
        assert word in told
        assert ("Version 1 says" in told) == (amount == "740")


def test_recorded_calls_are_judged_again(desk: Desk):
    contract = desk.live("drill.effect_final")
    for amount in (100, 740, 9000):
        make.intent(contract, arguments={"amount": amount}, target=f"account {amount}")
    rule = {
        "rule-0-argument": "amount",
        "rule-0-comparison": "over",
        "rule-0-value": "500",
        "rule-0-then": "blocked",
    }
    told = desk.browser.post(
        "/tools/drill.effect_final/consequences/", desk.form("drill.effect_final", **rule)
    )
    page = told.content.decode()
    assert re.search(
        r"<b>Blocked</b>|<span class=\"big\">2</span><span class=\"small\">would newly be blocked", page
    )
    assert "account 740" in page
    assert "account 100:" not in page


@pytest.mark.parametrize(
    "bad",
    [
        {"input_schema": "{"},
        {"config": '{"a": 1, "a": 2}'},
        {"timeout_seconds": "0"},
        {"timeout_seconds": "soon"},
        {"rule-0-argument": "amount", "rule-0-comparison": "over", "rule-0-value": "much"},
        {"effect_class": "magic"},
        {"quorum": "0"},
        {"target": "a\x00b"},
    ],
)
def test_entries_that_cannot_be_used_are_said_and_nothing_is_lost(desk: Desk, bad):
    answer = desk.save("mail.send", max_attempts="7", **bad)
    page = answer.content.decode()
    assert "The draft was not saved" in page or "cannot" in page
    assert not Contract.everywhere.filter(tenant=desk.tenant, status="DRAFT").exists()
    assert 'value="7"' in page


def test_a_new_tool_begins_with_the_strictest_class_and_nobody_can_call_it(desk: Desk):
    typed = {"name": "crm.create_order", "title": "Create an order", "description": ""}
    answer = desk.browser.post("/tools/new/", typed, follow=True)
    assert answer.redirect_chain[-1][0] == "/tools/crm.create_order/"
    assert answer.context["form"]["effect_class"].value() == "irreversible"
    assert selectors.contract_for(tenant_id=desk.tenant.pk, tool="crm.create_order") is None
    assert "of that name already" in desk.browser.post("/tools/new/", typed).content.decode()
    desk.save("crm.create_order", target="https://crm.example/orders", review="1")
    shown = desk.browser.get("/tools/crm.create_order/changes/").context["seen"]
    desk.browser.post("/tools/crm.create_order/changes/", {"seen": shown})
    assert desk.live("crm.create_order").adapter == "http"


@pytest.mark.parametrize("name", ["new", "secrets", "Mail", "a b", "../x", "a..b", ""])
def test_a_name_that_agents_could_not_use_is_refused(desk: Desk, name):
    before = Tool.everywhere.filter(tenant=desk.tenant).count()
    desk.browser.post("/tools/new/", {"name": name, "title": "X"})
    assert Tool.everywhere.filter(tenant=desk.tenant).count() == before


def test_a_tool_is_paused_with_a_reason_and_goes_on(desk: Desk):
    desk.browser.post("/tools/mail.send/pause/", {"reason": " "})
    assert desk.tool("mail.send").paused_at is None
    desk.browser.post("/tools/mail.send/pause/", {"reason": "The bank changes its certificate."})
    page = desk.get("/tools/?kind=paused")
    assert "The bank changes its certificate." in page
    assert "Jonas Weber" in page
    word = selectors.verdict(tenant_id=desk.tenant.pk, contract=desk.live("mail.send"), arguments={})
    assert word.path == "blocked"
    desk.browser.post("/tools/mail.send/go-on/")
    assert desk.tool("mail.send").paused_at is None
    acts = list(AuditEntry.everywhere.filter(act__startswith="tool.").values_list("act", flat=True))
    assert acts == ["tool.paused", "tool.resumed"]
    assert pauses.go_on(tool_id=desk.tool("mail.send").pk, by=desk.admin.pk) is False


def test_a_draft_is_thrown_away(desk: Desk):
    desk.save("mail.send", timeout_seconds="7")
    desk.browser.post("/tools/mail.send/discard/")
    assert not Contract.everywhere.filter(tenant=desk.tenant, status="DRAFT").exists()
    assert desk.browser.get("/tools/mail.send/changes/").status_code == 302


def test_a_secret_goes_in_and_never_comes_out(desk: Desk):
    """Guards ``tools/views/secrets.py``: neither the page nor a form that is shown again holds the value."""
    answer = desk.browser.post("/tools/secrets/", {"name": "crm", "value": "canary-1"}, follow=True)
    assert "canary-1" not in answer.content.decode()
    assert vault.opened(tenant_id=desk.tenant.pk, names=["crm"]) == {"crm": "canary-1"}
    again = desk.browser.post("/tools/secrets/", {"name": "", "value": "canary-2"}).content.decode()
    assert "canary-2" not in again
    desk.browser.post("/tools/secrets/delete/", {"name": "crm"})
    assert not Secret.everywhere.exists()


def test_calls_that_only_read_are_counted_like_effects(desk: Desk):
    """Guards ``runs/sql/reads_of_tools.sql``: what has ended in the last days, by tool; failures are errors."""
    ada = make.person(desk.tenant, Role.SUBMITTER)
    worker = hands.worker()
    hands.counter_run(desk.tenant, ada, steps=3)
    hands.run_all(worker)
    row = next(
        row
        for row in desk.browser.get("/tools/?kind=drills").context["rows"]
        if row.tool.name == "drill.noop"
    )
    assert (row.figures.calls, row.figures.errors, row.figures.unknown) == (3, 0, 0)
    assert "not counted" not in desk.get("/tools/")
    foreign = Desk()
    assert not any(row.figures.calls for row in foreign.browser.get("/tools/").context["rows"])


def test_the_register_is_searched_and_sorted(desk: Desk):
    names = [row.tool.name for row in desk.browser.get("/tools/?q=send+mail").context["rows"]]
    assert names == ["mail.send"]
    assert "No tool is called like that." in desk.get("/tools/?q=nothing-like-it")
    rows = desk.browser.get("/tools/?sort=timeout").context["rows"]
    assert [row.contract.timeout_seconds for row in rows] == sorted(
        (row.contract.timeout_seconds for row in rows), reverse=True
    )
    assert desk.browser.get("/tools/?sort=nonsense&kind=nonsense&q=%00").status_code == 200


def test_without_any_tool_the_register_says_what_to_do():
    tenant = make.tenant()
    page = people.browser(make.person(tenant, Role.ADMINISTRATOR)).get("/tools/").content.decode()
    assert "No tool yet" in page


def test_differences_are_said_in_words_and_the_first_example_fits_the_schema(desk: Desk):
    page = desk.get("/tools/mail.send/history/")
    assert "Cannot be undone" in page
    assert ">irreversible<" not in page
    assert "smtp_try_later, connect_failed" in page
    context = desk.browser.get("/tools/mail.send/").context
    assert json.loads(context["example"]) == {"to": "text", "subject": "text", "text": "text"}
