"""A second administrator: what one person wrote, another one puts in force, or nobody does."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.errors import Refused
from accounts.models import AuditEntry, Role
from outbox.models import Message
from tests.make import people
from tests.tools import make
from tools import drafts, notes, publish, publish_rule, reviews
from tools.models import Contract, PublishRule, Review

pytestmark = pytest.mark.django_db(transaction=True)


class Pair:
    """A tenant in which publishing takes two, its administrators, and a tool in force."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        make.person(self.tenant, Role.APPROVER)
        self.jonas = make.person(self.tenant, Role.ADMINISTRATOR, name="Jonas Weber")
        self.mei = make.person(self.tenant, Role.ADMINISTRATOR, name="Mei Lin")
        self.live = make.contract(self.tenant)
        publish_rule.switch_on(tenant_id=self.tenant.pk, by=self.jonas.pk)

    def draft(self, **changes: object) -> Contract:
        _live, draft = drafts.current(tool=self.live.tool)
        declared = {**make.DECLARED, "risk": "high", **changes}
        return drafts.save(
            tool_id=self.live.tool_id,
            by=self.jonas.pk,
            declared=declared,
            seen_before=drafts.seen(draft or self.live),
        )

    def asked(self) -> Contract:
        draft = self.draft()
        reviews.ask(
            tool_id=draft.tool_id, by=self.jonas.pk, seen=drafts.seen(draft), note="The bank asks for it."
        )
        return draft

    def acts(self) -> list[str]:
        rows = AuditEntry.everywhere.filter(tenant=self.tenant).order_by("sequence")
        return list(rows.values_list("act", flat=True))


@pytest.fixture
def pair() -> Pair:
    return Pair()


def refused(code: str, act, **given) -> None:
    with pytest.raises(Refused) as told:
        act(**given)
    assert told.value.code == code


def test_one_person_alone_publishes_nothing(pair: Pair):
    """Guards ``tools/publish.py`` (the review is needed) and ``tools/reviews.py`` (neither author nor asker answers)."""
    draft = pair.draft()
    refused("review_needed", publish.publish, contract_id=draft.pk, by=pair.mei.pk)
    reviews.ask(tool_id=draft.tool_id, by=pair.jonas.pk, seen=drafts.seen(draft))
    refused("second_person", publish.publish, contract_id=draft.pk, by=pair.jonas.pk)
    published = publish.publish(contract_id=draft.pk, by=pair.mei.pk, note="Seen and understood.")
    assert (published.status, published.published_by, published.published_note) == (
        "PUBLISHED",
        pair.mei,
        "Seen and understood.",
    )
    entry = AuditEntry.everywhere.get(tenant=pair.tenant, act="contract.published", actor=pair.mei)
    assert entry.payload["asked_by"] == pair.jonas.pk.hex
    assert Review.everywhere.get().outcome == "published"


def test_who_wrote_it_does_not_answer_when_another_one_asked(pair: Pair):
    """Guards ``tools/reviews.py``: whoever saved the draft last is its author, whoever asked."""
    draft = pair.draft()
    reviews.ask(tool_id=draft.tool_id, by=pair.mei.pk, seen=drafts.seen(draft))
    refused("second_person", publish.publish, contract_id=draft.pk, by=pair.jonas.pk)
    refused("second_person", publish.publish, contract_id=draft.pk, by=pair.mei.pk)


def test_a_change_after_asking_voids_the_review(pair: Pair):
    """Guards ``tools/drafts.py`` (saving voids) and ``tools/reviews.py`` (the digest is compared)."""
    draft = pair.asked()
    assert pair.draft().pk == draft.pk  # saved as it was: nothing changed
    assert Review.everywhere.get().outcome == ""
    pair.draft(timeout_seconds=7)
    assert Review.everywhere.get().outcome == "void"
    refused("review_needed", publish.publish, contract_id=draft.pk, by=pair.mei.pk)
    draft = pair.asked()
    Contract.everywhere.filter(pk=draft.pk).update(timeout_seconds=9)  # past every verb
    refused("review_void", publish.publish, contract_id=draft.pk, by=pair.mei.pk)
    assert pair.live.__class__.everywhere.get(pk=pair.live.pk).status == "PUBLISHED"


def test_it_is_sent_back_with_a_reason_and_asked_again(pair: Pair):
    draft = pair.asked()
    given: dict[str, Any] = {"tool_id": draft.tool_id, "seen": drafts.seen(draft)}
    refused("no_reason", reviews.send_back, by=pair.mei.pk, reason=" ", **given)
    refused("second_person", reviews.send_back, by=pair.jonas.pk, reason="No.", **given)
    reviews.send_back(by=pair.mei.pk, reason="The limit is too high.", **given)
    back = reviews.returned_last(tool=draft.tool, draft=draft)
    assert back is not None
    assert back.reason == "The limit is too high."
    refused("review_needed", publish.publish, contract_id=draft.pk, by=pair.mei.pk)
    reviews.ask(by=pair.jonas.pk, **given)
    assert reviews.returned_last(tool=draft.tool, draft=draft) is None
    assert pair.acts()[-3:] == ["contract.review_asked", "contract.sent_back", "contract.review_asked"]


def test_only_administrators_of_the_tenant_ask_and_answer(pair: Pair):
    draft = pair.draft()
    outsider = make.person(make.tenant("other"), Role.ADMINISTRATOR)
    ben = make.person(pair.tenant, Role.APPROVER, Role.SUBMITTER)
    for nobody in (outsider, ben):
        refused("not_allowed", reviews.ask, tool_id=draft.tool_id, by=nobody.pk, seen=drafts.seen(draft))
        refused("not_allowed", publish_rule.ask_off, tenant_id=pair.tenant.pk, by=nobody.pk)


def test_switching_it_off_takes_two(pair: Pair):
    """Guards ``tools/publish_rule.py``: who asks to switch it off cannot make it so."""
    given = {"tenant_id": pair.tenant.pk}
    refused("second_person", publish_rule.switch_off, by=pair.mei.pk, **given)
    publish_rule.ask_off(by=pair.jonas.pk, **given)
    refused("second_person", publish_rule.switch_off, by=pair.jonas.pk, **given)
    assert publish_rule.needed(**given)
    publish_rule.keep_on(by=pair.mei.pk, **given)
    refused("second_person", publish_rule.switch_off, by=pair.mei.pk, **given)
    publish_rule.ask_off(by=pair.jonas.pk, **given)
    publish_rule.switch_off(by=pair.mei.pk, **given)
    assert not publish_rule.needed(**given)
    rule = [act for act in pair.acts() if act.startswith("publish_rule")]
    assert rule == [f"publish_rule.{act}" for act in ("on", "off_asked", "kept", "off_asked", "off")]
    draft = pair.draft()
    assert publish.publish(contract_id=draft.pk, by=pair.jonas.pk).published_by == pair.jonas


def test_it_is_off_by_default_and_one_administrator_cannot_lock_everybody_out():
    tenant = make.tenant()
    alone = make.person(tenant, Role.ADMINISTRATOR)
    assert not publish_rule.needed(tenant_id=tenant.pk)
    refused("nobody_else", publish_rule.switch_on, tenant_id=tenant.pk, by=alone.pk)
    assert not PublishRule.everywhere.exists()


def test_the_other_administrators_are_told_and_then_the_one_who_asked(pair: Pair):
    draft = pair.asked()
    asked = Message.objects.get(topic="contract.review").payload
    assert notes.recipients(asked) == [pair.mei]
    letter = notes.letter(asked, pair.mei)
    assert letter is not None
    assert "Jonas Weber" in letter.text
    assert "The bank asks for it." in letter.text
    assert f"/tools/{draft.tool.name}/changes/" in letter.text
    reviews.send_back(tool_id=draft.tool_id, by=pair.mei.pk, seen=drafts.seen(draft), reason="Too high.")
    assert notes.recipients(asked) == []
    assert notes.letter(asked, pair.mei) is None
    back = Message.objects.filter(topic="contract.review").order_by("id").last()
    assert back is not None
    assert notes.recipients(back.payload) == [pair.jonas]
    letter = notes.letter(back.payload, pair.jonas)
    assert letter is not None
    assert "Too high." in letter.text


def test_the_story_of_two_administrators_in_pages(pair: Pair):
    """The author is offered to ask, the other one to publish or to send back; each page says who waits for whom."""
    name = pair.live.tool.name
    jonas, mei = people.browser(pair.jonas), people.browser(pair.mei)
    pair.draft()
    page = jonas.get(f"/tools/{name}/changes/")
    assert "Ask for a review" in page.content.decode()
    assert "Publish version" not in page.content.decode()
    seen = page.context["seen"]
    jonas.post(f"/tools/{name}/review/", {"seen": seen, "note": "The bank asks for it."})
    assert "waits for another administrator" in body(jonas, f"/tools/{name}/changes/")
    theirs = body(mei, f"/tools/{name}/changes/")
    assert "The bank asks for it." in theirs
    assert "Publish version 2" in theirs
    mei.post(f"/tools/{name}/review/send-back/", {"seen": seen, "reason": "Say why in the policy."})
    assert "Say why in the policy." in body(jonas, f"/tools/{name}/")
    jonas.post(f"/tools/{name}/review/", {"seen": seen})
    jonas.post(f"/tools/{name}/changes/", {"seen": seen})
    assert Contract.everywhere.filter(tool=pair.live.tool, status="PUBLISHED").get().version == 1
    mei.post(f"/tools/{name}/changes/", {"seen": seen, "note": "As agreed on Monday."})
    history = body(mei, f"/tools/{name}/history/?then=1&now=2")
    assert "Mei Lin, asked by Jonas Weber" in history
    assert "As agreed on Monday." in history
    assert "Compare two versions" in history
    jonas.post("/tools/two-people/", {"act": "ask_off"})
    jonas.post("/tools/two-people/", {"act": "off"})
    assert "Agree: switch it off" in body(mei, "/tools/two-people/")
    assert publish_rule.needed(tenant_id=pair.tenant.pk)
    mei.post("/tools/two-people/", {"act": "off"})
    assert not publish_rule.needed(tenant_id=pair.tenant.pk)


def body(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.content.decode()
