"""The page of one task: state in words, what it waits for, results, findings, history."""

from __future__ import annotations

import json
from html import unescape

import pytest
from django.urls import reverse

from accounts import audit
from accounts.models import Role
from approvals.models import PendingAction
from runs import blobs
from runs.engine.types import Outcome, Plan
from runs.models import Artifact, Event, FindingCorrection
from tests.make import runs as make
from tests.make.people import browser, person
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def page(client, run, name: str = "task_detail", status: int = 200, **extra) -> str:
    answer = client.get(reverse(f"runs:{name}", args=[run.pk]), **extra)
    assert answer.status_code == status
    return unescape(answer.content.decode())


def test_a_task_that_waits_says_for_whom_and_what(house):
    run = house.reviewed()
    html = page(browser(house.ada), run)
    assert "Waiting for approval" in html
    assert "Waiting for one of the approvers" in html
    assert make.ADDRESS in html
    assert "See the open approval" in html
    assert "Review halden.txt" in html
    assert "Write the report" in html
    assert "waits for a person" in html


def test_a_task_that_nobody_has_begun_says_so(house):
    html = page(browser(house.ada), house.submitted())
    assert "Not begun" in html
    assert "Planning the next step" in html


def test_a_sent_mail_stands_with_its_name_and_reference(house):
    run = house.sent(house.reviewed())
    html = page(browser(house.ada), run)
    assert run.status == "SUCCEEDED"
    assert "The notice was sent." in html
    assert "approved by Ben" in html
    assert "<id@linden.example>" in html
    assert "Cannot be undone" in html
    assert "Cancel task…" not in html


def test_everybody_who_signed_is_named_at_the_step(house):
    run = house.reviewed()
    action = house.action(run)
    PendingAction.everywhere.filter(pk=action.pk).update(policy={**action.policy, "quorum": 2})
    mira = person(house.tenant, Role.APPROVER, name="Mira")
    house.answer(run, "approve")
    house.answer(run, "approve", user_id=mira.pk)
    assert f"approved by {house.ben}, {mira}" in page(browser(house.ada), run)


def test_a_rejection_is_told_with_its_reason(house):
    run = house.reviewed()
    house.answer(run, "reject", comment="Wrong year in the letter")
    house.finish()
    html = page(browser(house.ada), run)
    assert "Ben rejected the proposal." in html
    assert "Wrong year in the letter" in html
    assert "It was not done" in html


def test_an_unknown_outcome_is_the_first_thing_on_the_page(house):
    run = house.lost(house.reviewed())
    html = page(browser(house.ada), run)
    assert "1 outcome is unknown." in html
    assert "Settle the unknown outcome" in html
    assert "Unknown outcome" in html


def test_a_task_that_cannot_go_on_says_why_and_who_is_asked(house):
    run = house.counted()
    (claimed,) = hands.take(house.me)
    broken = Plan(claimed.version, error="KeyError: 'file'")
    hands.put(house.me, Outcome(claimed, "succeeded", plan=broken))
    html = page(browser(house.ada), run)
    assert "It cannot go on by itself." in html
    assert "The agent could not plan the next step." in html
    assert "See why it paused" in html
    assert "Needs a person" in html


def test_the_fragment_says_how_far_it_is_drawn(house):
    run = house.reviewed()
    answer = browser(house.ada).get(reverse("runs:task_detail", args=[run.pk]), headers={"X-Live": "true"})
    assert answer["X-Live-Seq"] == str(run.event_seq)
    assert b"<html" not in answer.content
    assert b'id="timeline"' in answer.content


def test_findings_stand_with_their_quotes(house):
    html = page(browser(house.ada), house.reviewed())
    assert "Governing law" in html
    assert "This Agreement shall be governed by the laws of the State of New York." in html
    assert "Renews by itself unless notice comes 90 days before the end" in html
    assert "No limit of liability was found" in html


def test_a_finding_is_marked_wrong_and_taken_back(house):
    run = house.reviewed()
    review = json.loads(blobs.read(Artifact.everywhere.get(run=run, name="halden.txt.review.json").uri))
    law = next(one for one in review["findings"] if one["field"] == "governing_law")
    client = browser(house.ben)
    place = [run.pk, review["sha256"], law["id"]]
    client.post(reverse("runs:correct", args=place), {"note": "It is Delaware, page 3"})
    html = page(client, run)
    assert "Marked wrong by Ben" in html
    assert "It is Delaware, page 3" in html
    report = Artifact.everywhere.get(run=run, name="report.md")
    paper = client.get(reverse("runs:printable", args=[run.pk, report.pk])).content.decode()
    assert "It is Delaware, page 3" in unescape(paper)
    client.post(reverse("runs:take_back", args=place), {"note": "I misread it"})
    assert "Marked wrong by Ben" not in page(client, run)
    said = FindingCorrection.everywhere.filter(run=run).order_by("at")
    assert [(one.wrong, one.by) for one in said] == [(True, house.ben), (False, house.ben)]
    assert audit.verify(tenant_id=house.tenant.pk) == []


def test_what_no_review_found_cannot_be_marked(house):
    run = house.reviewed()
    place = [run.pk, "ab" * 32, "governing_law-1"]
    assert browser(house.ada).post(reverse("runs:correct", args=place)).status_code == 404
    assert not FindingCorrection.everywhere.exists()


def test_history_is_whole_and_leaves_as_json(house):
    run = house.reviewed()
    client = browser(house.ada)
    html = page(client, run, "history")
    assert "chain verified" in html
    assert "Approval asked" in html
    answer = client.get(reverse("runs:history_export", args=[run.pk]))
    told = json.loads(answer.getvalue())
    assert [event["sequence"] for event in told["events"]] == list(range(1, run.event_seq + 1))
    assert told["events"][-1]["hash"] == bytes(run.event_hash).hex()
    only_approvals = page(client, run, "history", data={"family": "approval"})
    assert "Approval asked" in only_approvals
    assert "Task submitted" not in only_approvals


def test_a_broken_chain_is_said_aloud(house):
    """Guards ``runs/views/history.py``: the verdict is that of ``timeline.verify``, not a word in a template."""
    run = house.reviewed()
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE runs_event DISABLE TRIGGER event_append_only")
        cursor.execute("UPDATE runs_event SET actor = 'nobody' WHERE run_id = %s AND sequence = 2", [run.pk])
        cursor.execute("ALTER TABLE runs_event ENABLE TRIGGER event_append_only")
    html = page(browser(house.ada), run, "history")
    assert "The chain is broken." in html
    assert "Event 2 does not match its hash." in html


def test_a_task_of_many_steps_draws_the_last_and_links_the_rest(house, django_assert_max_num_queries):
    run = house.counted(steps=230)
    hands.run_all(house.me, rounds=600)
    client = browser(house.ada)
    with django_assert_max_num_queries(30):
        html = page(client, run)
    assert "count/230" in html
    assert "count/1<" not in html
    assert "Show all steps" in html
    assert "count/1<" in page(client, run, "steps")
    assert Event.everywhere.filter(run=run).count() == make.again(run).event_seq
