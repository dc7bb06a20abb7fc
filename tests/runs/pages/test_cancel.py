"""Cancel: the sheet before, the record after, legal in every live state."""

from __future__ import annotations

from html import unescape

import pytest
from django.urls import reverse

from accounts.scope import tenant_scope
from runs import timeline
from runs.engine.cancel import cancel
from runs.models import Run, Step
from runs.present import cancel_sheet, header
from runs.views import cancel as cancel_views
from tests.make import runs as make
from tests.make.people import browser
from tests.runs.engine import hands
from tests.runs.engine.bookings import Bookings, call

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def sheet(client, run, status: int = 200) -> str:
    answer = client.get(reverse("runs:cancel", args=[run.pk]))
    assert answer.status_code == status
    return unescape(answer.content.decode())


def stop(client, run, reason: str = "handled by phone"):
    return client.post(reverse("runs:cancel", args=[run.pk]), {"reason": reason})


def test_the_sheet_lists_everything_and_stops_nothing(house):
    run = house.reviewed()
    html = sheet(browser(house.ada), run)
    assert "Nothing that cannot be taken back has happened." in html
    assert "Every call so far has a known outcome." in html
    assert "is withdrawn" in html
    assert make.ADDRESS in html
    assert "report.md" in html
    assert "2 steps, 6 files" in html
    assert "Cancel the task and drop 1 step" in html
    assert make.again(run).status == "WAITING_APPROVAL"


def test_afterwards_the_same_sheet_is_the_record(house):
    run = house.reviewed()
    client = browser(house.ada)
    answer = stop(client, run)
    assert answer.status_code == 302
    run = make.again(run)
    assert run.status == "CANCELLED"
    html = unescape(client.get(answer["Location"]).content.decode())
    assert "What the cancellation left" in html
    assert "handled by phone" in html
    assert "by Ada" in html
    assert "Never sent." in html
    assert "report.md" in html
    assert "Governing law" in html
    assert timeline.verify(run.pk) == []


def test_a_sent_mail_is_listed_as_gone_for_good(house):
    run = house.counted(
        steps=2, tool="mail.send", arguments={"to": make.ADDRESS, "subject": "S", "text": "T"}
    )
    house.finish()
    house.sent(run)
    html = sheet(browser(house.ada), run)
    gone = html.partition("Cannot be undone")[2].partition("</section>")[0]
    assert '<span class="k">1</span>' in gone
    assert "confirmed" in gone


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "WAITING_APPROVAL", "UNKNOWN"])
def test_every_live_state_can_be_cancelled_without_a_worker(house, state):
    run = house.submitted() if state in ("PENDING", "RUNNING") else house.reviewed()
    if state == "RUNNING":
        hands.take(house.me)
    if state == "UNKNOWN":
        run = house.lost(run)
    client = browser(house.ada)
    assert "Cancel task…" in client.get(reverse("runs:task_detail", args=[run.pk])).content.decode()
    sheet(client, run)
    assert stop(client, run).status_code == 302
    run = make.again(run)
    assert run.status == ("CANCEL_REQUESTED" if state in ("RUNNING", "UNKNOWN") else "CANCELLED")
    if state == "UNKNOWN":
        html = unescape(client.get(reverse("runs:task_detail", args=[run.pk])).content.decode())
        assert "Settle the unknown outcome" in html
        assert "a person settles it, then the task ends" in html


def test_while_a_step_cannot_stop_the_page_says_stopping(house):
    run = house.submitted()
    hands.put(house.me, *[make.work(one) for one in hands.take(house.me)])
    hands.take(house.me)
    client = browser(house.ada)
    stop(client, run)
    html = unescape(client.get(reverse("runs:task_detail", args=[run.pk])).content.decode())
    assert "Stopping" in html
    assert "Nothing new starts. Still running" in html
    assert Step.everywhere.filter(run=run, status="RUNNING").exists()


def test_a_task_that_has_ended_is_left_alone_calmly(house):
    run = house.sent(house.reviewed())
    client = browser(house.ada)
    html = sheet(client, run, 409)
    assert "has ended already" in html
    assert "Nothing was changed" in html
    assert stop(client, run).status_code == 409
    assert make.again(run).status == "SUCCEEDED"


def test_several_are_shown_first_and_stopped_only_then(house):
    first, second, third = (house.counted(goal=f"Number {number}") for number in (1, 2, 3))
    client = browser(house.ada)
    shown = client.post(reverse("runs:cancel_several"), {"run": [first.pk.hex, second.pk.hex]})
    html = unescape(shown.content.decode())
    assert "Number 1" in html
    assert "Number 3" not in html
    assert Run.everywhere.filter(status="PENDING").count() == 3
    chosen = {
        "run": [first.pk.hex, second.pk.hex, "nonsense"],
        "confirmed": "yes",
        "reason": "month-end moved",
    }
    done = client.post(reverse("runs:cancel_several"), chosen, follow=True)
    assert "2 tasks stop." in done.content.decode()
    assert {run.pk for run in Run.everywhere.filter(status="CANCELLED")} == {first.pk, second.pk}
    assert make.again(third).status == "PENDING"


def test_the_sheet_and_the_record_say_what_is_undone(house: make.House) -> None:
    """Before the button what will be undone, afterwards what was; never both "stays" and "undone"."""
    book = {"do": "call", "key": "hall", "tool": "drill.effect", "arguments": {}, "title": "Book the hall"}
    wait = {"do": "wait", "key": "w", "seconds": 900}
    run = hands.script_run(house.tenant, house.ada, [book], [wait])
    hands.run_all(house.me, lambda one: hands.sent(house.me, one) if one.intent_id else hands.done(one))
    with house.scope():
        before = {group.key: group for group in cancel_views._groups(make.again(run))}
        assert [item.text for item in before["will_be_undone"].items] == ["Book the hall: drill.effect"]
        assert cancel_sheet.button_words(list(before.values())) == "Cancel the task and undo 1 effect"
        cancel(run_id=run.pk, user_id=house.ada.pk)
        assert "Undoing" in str(header.banner(make.again(run), [], []))
        during = {group.key: group for group in cancel_views._groups(make.again(run))}
        # What the cancel took away is named; the undo that is to come is no part of it.
        assert len(during["will_not_happen"].items) == 1
        assert not any("Undo" in item.text for item in during["will_not_happen"].items)
        hands.run_all(house.me, lambda one: hands.sent(house.me, one))
        after = {group.key: group for group in cancel_views._groups(make.again(run))}
        assert after["undone"].items[0].note.startswith("Undone ")
        assert not any("Book the hall" in item.text for item in after["stays"].items)
        assert "1 effect was undone." in str(header.banner(make.again(run), [], []))


def test_what_is_being_undone_is_no_part_of_what_will_not_happen() -> None:
    """A task that failed undoes what it did; a cancel then stops none of that, and its sheet does not say so."""
    story = Bookings([call("hall")])
    story.until_undo()
    assert story.run.status == "COMPENSATING"
    # Between its planning and its claim.
    Step.everywhere.filter(run_id=story.run_id, kind="undo").update(
        status="PENDING", owner=None, lease_until=None
    )
    with tenant_scope(story.run.tenant_id):
        sheet = {group.key: group for group in cancel_views._groups(story.run)}
    assert [item.text for item in sheet["will_be_undone"].items]
    assert sheet["will_not_happen"].items == []
