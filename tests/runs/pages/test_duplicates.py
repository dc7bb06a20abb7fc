"""Anybody says that an effect happened twice; another person, who may decide, looks at it (L20)."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.ids import public
from accounts.models import AuditEntry
from runs.models import Run
from tests.make import people
from tests.make import runs as make
from tests.rest.client import Rest
from tools import duplicates
from tools.models import DuplicateReport, Intent

pytestmark = pytest.mark.django_db(transaction=True)


class Twice:
    """A house with a task whose letter was sent."""

    def __init__(self) -> None:
        self.house = make.house()
        self.run: Run = self.house.sent(self.house.reviewed())
        self.intent: Intent = Intent.everywhere.get(run_id=self.run.pk)
        self.page = f"/tasks/{public('run', self.run.pk)}/effects/{public('intent', self.intent.pk)}/"

    def seen(self, who: Any, path: str = "") -> str:
        answer = people.browser(who).get(path or self.page)
        assert answer.status_code == 200
        return answer.content.decode()

    def report(self) -> DuplicateReport:
        people.browser(self.house.ada).post(
            self.page, {"evidence": "Two mails with this Message-ID.", "reference": "<2@mail>"}
        )
        made: DuplicateReport = DuplicateReport.everywhere.get()
        return made

    def answer(self, who: Any, answer: str, reason: str = "Both stand in the inbox.") -> str:
        found = DuplicateReport.everywhere.get()
        told = people.browser(who).post(
            f"/tasks/duplicates/{found.pk}/", {"answer": answer, "reason": reason}, follow=True
        )
        return told.content.decode()


@pytest.fixture
def twice() -> Twice:
    return Twice()


def test_a_report_is_made_on_the_page_of_the_task_and_answered_by_another_person(twice: Twice):
    """Guards ``tools/duplicates.py``: who reported cannot confirm, and who confirms says why."""
    task = f"/tasks/{public('run', twice.run.pk)}/"
    assert twice.page in twice.seen(twice.house.ada, task)
    report = twice.report()
    assert (report.reported_by, report.reference) == (twice.house.ada, "<2@mail>")
    assert "Confirm: it happened twice" not in twice.seen(twice.house.ada)
    assert "Confirm: it happened twice" in twice.seen(twice.house.ben)
    twice.answer(twice.house.ben, "confirm", reason=" ")
    twice.answer(twice.house.ada, "confirm")
    report.refresh_from_db()
    assert report.confirmed is None
    twice.answer(twice.house.ben, "confirm")
    report = DuplicateReport.everywhere.get()
    assert (report.confirmed, report.answered_by) == (True, twice.house.ben)
    assert report.reason == "Both stand in the inbox."
    assert "Happened twice: confirmed" in twice.seen(twice.house.ada, task)
    listed = twice.seen(twice.house.ada, "/tasks/duplicates/")
    assert "1 confirmed among 1 effects" in listed
    assert "10000 per 10,000" in listed
    acts = AuditEntry.everywhere.filter(act__startswith="duplicate.").order_by("sequence")
    assert list(acts.values_list("act", flat=True)) == ["duplicate.reported", "duplicate.confirmed"]


def test_what_is_dismissed_does_not_count_and_can_be_reported_again(twice: Twice):
    twice.report()
    assert "answered already" not in twice.answer(twice.house.ben, "dismiss", "It is the reminder.")
    assert duplicates.rate(tenant_id=twice.house.tenant.pk).confirmed == 0
    page = twice.seen(twice.house.ada)
    assert "It is the reminder." in page
    assert "Report that it happened twice" in page


def test_who_only_submits_answers_nothing(twice: Twice):
    """Guards ``tools/duplicates.py`` `may_answer`."""
    report = duplicates.report(
        tenant_id=twice.house.tenant.pk,
        intent_id=twice.intent.pk,
        user_id=twice.house.ben.pk,
        evidence="Seen twice.",
    )
    assert "Approvers and administrators answer" in twice.answer(twice.house.ada, "confirm")
    report.refresh_from_db()
    assert report.confirmed is None


def test_the_story_over_rest(twice: Twice):
    ada = Rest(twice.house.ada, twice.house.tenant, "read", "submit")
    ben = Rest(twice.house.ben, twice.house.tenant, "read", "submit", "decide")
    run = public("run", twice.run.pk)
    (effect,) = ada.get(f"tasks/{run}/effects/").json()["results"]
    assert (effect["tool"], effect["duplicates"]) == ("mail.send", [])
    where = f"tasks/{run}/effects/{effect['id']}/duplicates/"
    assert ada.post(where, {"evidence": ""}).status_code == 400
    made = ada.post(where, {"evidence": "Two mails."})
    assert made.status_code == 201
    answer = f"duplicates/{made.json()['id']}/answer/"
    assert ada.post(answer, {"confirmed": True, "reason": "Sure."}).status_code == 403
    told = ben.post(answer, {"confirmed": True, "reason": "I looked."})
    assert (told.status_code, told.json()["confirmed"]) == (200, True)
    again = ben.post(answer, {"confirmed": False, "reason": "Or not."})
    assert (again.status_code, again.json()["code"]) == (409, "answered")
    more = ben.post(where, {"evidence": "And a third."}).json()["id"]
    own = ben.post(f"duplicates/{more}/answer/", {"confirmed": True, "reason": "Sure."})
    assert (own.status_code, own.json()["code"]) == (403, "own_report")
    listed = ada.get("duplicates/").json()
    assert listed["rate"] == {"confirmed": 1, "effects": 1, "per_10_000": 10000.0}
    assert [row["answered_by"] for row in listed["results"]] == ["", str(twice.house.ben)]


def test_no_other_tenant_sees_or_answers_it(twice: Twice):
    report = twice.report()
    otto = people.browser(twice.house.otto)
    assert otto.get(twice.page).status_code == 404
    given = {"answer": "confirm", "reason": "x"}
    assert otto.post(f"/tasks/duplicates/{report.pk}/", given).status_code == 404
    assert "Two mails" not in otto.get("/tasks/duplicates/").content.decode()
