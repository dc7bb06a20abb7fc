"""Check again: on the page of an unknown outcome, and over REST."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client

from accounts import ids
from accounts.models import Role
from accounts.scope import tenant_scope
from tests.rest.client import Rest
from tests.runs.engine.doubtful import ASKED, Doubtful
from tests.tools import make
from tools.adapters import registry
from tools.adapters.http import key_header
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

NO, YES = {"state": "none"}, {"state": "booked", "id": "B-7"}


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def asked(**declared) -> tuple[Doubtful, str]:
    """A question that a person has, and its public id."""
    story = Doubtful(**declared)
    story.lost()
    if declared:
        story.answer(NO)
    return story, ids.public("pendingaction", story.settles[0].pk)


def test_the_button_asks_and_the_page_shows_when_what_and_the_answer():
    story, action = asked(**ASKED)
    ben = signed_in(story.approver)
    page = ben.get(f"/inbox/{action}/").content.decode()
    assert "Check again" in page
    assert "Asked: it did not happen" in page
    assert "may still send it" in page
    done = ben.post(f"/inbox/{action}/check-again/", follow=True)
    assert "The other side is asked now" in done.content.decode()
    assert len(story.queries) == 2
    story.answer(YES)
    fragment = ben.get(f"/inbox/{action}/", headers={"X-Live": "1"}).content.decode()
    assert "Asked: it happened" in fragment
    assert "It said: booked" in fragment
    assert "<html" not in fragment
    assert (story.intent.status, story.intent.reference) == ("CONFIRMED", "B-7")


def test_the_page_shows_every_argument_of_what_may_have_happened():
    """Else nobody could ask the other side about it."""
    story, action = asked()
    page = signed_in(story.approver).get(f"/inbox/{action}/").content.decode()
    assert "Every parameter" in page
    assert "invoice" in page
    assert story.intent.arguments == {"invoice": {"number": 7}}


def test_the_page_names_the_key_as_the_other_side_got_it(monkeypatch):
    """Searched there, our own key finds nothing."""
    hashed = replace(registry.KINDS["python"], named=key_header)
    monkeypatch.setitem(registry.KINDS, "python", hashed)
    story, action = asked()
    page = signed_in(story.approver).get(f"/inbox/{action}/").content.decode()
    assert key_header(story.intent.key) in page
    assert story.intent.key in page


@pytest.mark.parametrize("what", ["grant_voided", "grant_taken_back"])
def test_what_became_of_an_approval_is_no_answer_about_the_effect(what):
    story, action = asked()
    ben = signed_in(story.approver)
    before = ben.get(f"/inbox/{action}/").content.decode().count("No clear answer")
    told = [{"what": what, "at": "2026-11-30T10:00:00Z"}, *story.intent.evidence]
    Intent.everywhere.filter(pk=story.intent.pk).update(evidence=told)
    assert ben.get(f"/inbox/{action}/").content.decode().count("No clear answer") == before > 0


@pytest.mark.parametrize("link", ["javascript:alert(1)", "ftp://files.example/1", "not an address"])
def test_a_link_to_evidence_is_an_address_of_the_web(link):
    story, action = asked()
    ben, row = signed_in(story.approver), story.settles[0]
    given = {
        "verdict": "nobody_knows",
        "digest": row.digest,
        "generation": row.generation,
        "comment": "Asked.",
    }
    refused = ben.post(f"/inbox/{action}/decide/", {**given, "evidence": link})
    assert refused.status_code == 422
    # Said once, not by two rules.
    assert refused.context["form"].errors["evidence"] == [
        "Give an address that begins with https:// or http://. Nothing was recorded."
    ]
    assert story.settles[0].status == "OPEN"
    kept = ben.post(f"/inbox/{action}/decide/", {**given, "evidence": "https://bank.example/1"}, follow=True)
    assert kept.status_code == 200
    page = ben.get(f"/inbox/{action}/").content.decode()
    assert '<a class="link" href="https://bank.example/1"' in page


def test_without_a_query_the_page_says_that_nothing_can_be_asked():
    story, action = asked()
    ben = signed_in(story.approver)
    page = ben.get(f"/inbox/{action}/").content.decode()
    assert "Check again" not in page
    assert "Nothing can be asked" in page
    done = ben.post(f"/inbox/{action}/check-again/", follow=True)
    assert "Nothing can be asked now" in done.content.decode()
    assert story.queries == []


def test_who_may_not_settle_does_not_have_the_far_side_asked():
    story, action = asked(**ASKED)
    assert signed_in(story.ada).post(f"/inbox/{action}/check-again/").status_code == 403
    stranger = make.person(make.tenant("other"), Role.APPROVER)
    assert signed_in(stranger).post(f"/inbox/{action}/check-again/").status_code == 404
    assert len(story.queries) == 1


def test_over_rest_it_is_one_question_at_a_time():
    story, action = asked(**ASKED)
    ben = Rest(story.approver, story.tenant, "read", "decide")
    for _ in range(2):
        answer = ben.post(f"actions/{action}/check-again/")
        assert (answer.status_code, answer.json()) == (202, {"asked": True})
    assert len(story.queries) == 2
    reader = Rest(story.approver, story.tenant, "read")
    assert reader.post(f"actions/{action}/check-again/").status_code == 403
    with tenant_scope(story.tenant.pk):
        assert story.settles[0].status == "OPEN"
