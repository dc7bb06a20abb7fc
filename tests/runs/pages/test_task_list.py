"""The list of tasks: rows, chips, filters, cursor, export."""

from __future__ import annotations

import csv
import io
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.ids import public
from accounts.sheets import neutral
from runs.engine.cancel import cancel
from runs.models import Run
from tests.make import runs as make
from tests.make.people import browser

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/tasks/"


@pytest.fixture
def house() -> make.House:
    return make.house()


def page(client, **data) -> str:
    answer = client.get(LIST, data)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_an_empty_list_offers_samples(house):
    html = page(browser(house.ada))
    assert "No tasks yet" in html
    assert "Stop a renewal in time" in html
    assert "?sample=renewal" in html


def test_a_row_says_what_it_waits_for_and_since_when(house):
    run = house.reviewed()
    html = page(browser(house.ada))
    assert run.goal in html
    assert "Waiting for approval" in html
    assert "one of the approvers" in html
    assert make.ADDRESS in html
    assert "2 of 3 steps" in html
    assert "data-since" in html or "<time" in html


def test_chips_count_and_filter(house):
    waiting = house.reviewed(goal="Waits for Ben")
    unknown = house.lost(house.reviewed(house.upload(), goal="Nobody knows"))
    house.counted(goal="Still to come")
    stopped = house.counted(goal="Stopped")
    cancel(run_id=stopped.pk, user_id=house.ada.pk, reason="not needed")
    client = browser(house.ada)
    for state, shown in {
        "person": {waiting.goal, unknown.goal},
        "unknown": {unknown.goal},
        "running": {"Still to come"},
        "waiting": {waiting.goal, unknown.goal},
        "cancelled": {"Stopped"},
        "done": set(),
    }.items():
        html = page(client, state=state)
        found = {goal for goal in (waiting.goal, unknown.goal, "Still to come", "Stopped") if goal in html}
        assert found == shown, state
    assert 'Needs a person</span> <span class="k">2' in page(client)


def test_search_finds_words_people_and_ids(house):
    run = house.counted(goal="Lease for the Lyngby office")
    house.counted(goal="Insurance offers", by=house.jonas)
    client = browser(house.ben)
    assert "Insurance" not in page(client, q="lyngby")
    assert "Lyngby" in page(client, q=public("run", run.pk))
    assert "Lyngby" not in page(client, q="Jonas")
    assert "Nothing found" in page(client, q="no such words")


def test_an_address_with_nonsense_still_shows_the_list(house):
    house.counted(goal="Here I am")
    client = browser(house.ada)
    for query in (
        {"state": "nonsense"},
        {"agent": "x"},
        {"since": "yesterday"},
        {"cursor": "!!"},
        {"cursor": "AAAA"},
    ):
        assert "Here I am" in page(client, **query)


def test_pages_hang_together_by_a_cursor(house, monkeypatch):
    monkeypatch.setattr("runs.views.tasks.PAGE", 2)
    for number in range(5):
        house.counted(goal=f"Number {number}")
    client = browser(house.ada)
    seen, cursor = [], ""
    for _ in range(3):
        answer = client.get(LIST, {"cursor": cursor} if cursor else {})
        seen += [row.goal for row in answer.context["rows"]]
        cursor = answer.context["next_url"].partition("cursor=")[2]
    assert seen == [f"Number {number}" for number in (4, 3, 2, 1, 0)]
    assert not cursor


def test_the_number_of_queries_does_not_grow_with_the_rows(house):
    client = browser(house.ada)

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            page(client)
        return len(seen)

    house.reviewed()
    page(client)
    few = queries()
    for number in range(6):
        house.reviewed(house.upload(), goal=f"Another {number}")
    assert queries() == few


def test_b85_an_export_runs_nothing_in_a_spreadsheet(house):
    """Guards ``accounts/sheets.py`` ``neutral``: a cell that begins like a formula is text."""
    evil = '=cmd|" /C calc"!A0'
    house.counted(goal=evil)
    answer = browser(house.ada).get(reverse("runs:export"))
    assert "attachment" in answer["Content-Disposition"]
    text = answer.getvalue().decode("utf-8-sig")
    _head, row = csv.reader(io.StringIO(text))
    assert row[1] == f"'{evil}"
    assert Run.everywhere.get().goal == evil
    for sign in "=+-@\t\r":
        assert neutral(f"{sign}1+1").startswith("'")
    assert neutral("Review 5 contracts") == "Review 5 contracts"


def test_an_approver_may_look_but_is_offered_no_start(house):
    house.counted(goal="Look at me")
    html = page(browser(house.ben))
    assert "Look at me" in html
    assert "/tasks/new/" not in html
    assert "Cancel selected" not in html
