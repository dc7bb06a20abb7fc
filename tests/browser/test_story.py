"""The main job by hand: contracts in, a plan, a run, a letter, a signature, one mail."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, OTTO, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
GOAL = "Review the contracts before the lease renews"


def test_the_story(visit: Callable[..., Visitor], place: Place, tmp_path: Path) -> None:
    ada, ben = visit(ADA), visit(BEN)
    address = steps.an_address()
    task = _hands_in(ada, papers.hand_in(tmp_path), address)
    _watches(ada)
    _reads(ben, address)
    _nothing_for_outsiders(visit, task, ben)
    _approves(ben, place, address)
    _sees_it_done(ada, place, address)
    _marks_a_finding_wrong(ada, visit, task)
    _sink_counts_one(visit, place, address)
    _says_it_came_twice(ada, ben, task)


def _hands_in(ada: Visitor, files: list[Path], address: str) -> str:
    """Uploads, takes one file out again, sees the plan, presses twice, and there is one task."""
    extra = files[0].with_name("Not-this-one.txt")
    extra.write_text("This file was chosen by mistake.")
    page = steps.fill_in(ada, [*files, extra], GOAL, address)
    page.get_by_role("button", name="Remove Not-this-one.txt").click()
    expect(page.locator("li[data-file]")).to_have_count(len(files))
    expect(steps.plan(page)).not_to_contain_text("Not-this-one.txt")
    sending = steps.plan(page).get_by_role("listitem").last
    expect(sending).to_contain_text(address)
    expect(sending).to_contain_text("Asks first:")
    expect(steps.plan(page).get_by_text("Asks first:")).to_have_count(1)
    ada.axe()
    ada.fits()
    shoot(ada, "new-task", again=False)
    steps.plan(page).get_by_role("button", name=re.compile("^Start with")).dblclick()
    page.wait_for_url(steps.TASK)
    task = "/" + page.url.split("/", 3)[3]
    other = ada.new_page()
    other.goto(f"/tasks/?q={address}")
    other.goto("/tasks/")
    expect(other.locator("tr[data-row]", has_text=GOAL).first).to_be_visible()
    same = other.locator(f"a[href='{task}']")
    expect(same).to_have_count(1)
    other.close()
    return task


def _watches(ada: Visitor) -> None:
    """The page follows the run by itself: it is never loaded again."""
    page = ada.page
    page.evaluate("() => { window.neverLoadedAgain = true; }")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    steps.waits(page)
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("Halden-lease.txt")
    assert page.evaluate("() => window.neverLoadedAgain") is True
    ada.axe()
    ada.fits()
    shoot(ada, "task", highest=1100)


def _reads(ben: Visitor, address: str) -> None:
    """The letter as its receiver will see it, with what hangs on it and why."""
    page = ben.go("/inbox/")
    expect(steps.inbox_row(page, address)).to_be_visible()
    ben.axe()
    ben.fits()
    shoot(ben, "inbox")
    page = steps.open_action(ben, address)
    letter = page.locator(".letter")
    expect(letter).to_contain_text(papers.last_day().isoformat())
    expect(letter).to_contain_text("Linden Instruments")
    expect(letter.get_by_role("link", name="notice.pdf")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Cannot be undone")
    expect(page.locator(".quote", has_text="automatically renew")).to_be_visible()
    ben.axe()
    ben.fits()
    shoot(ben, "action")


def _nothing_for_outsiders(visit: Callable[..., Visitor], task: str, ben: Visitor) -> None:
    """For another tenant none of it exists."""
    otto = visit(OTTO)
    action = "/" + ben.page.url.split("/", 3)[3]
    for path in (task, f"{task}history/", f"{task}history.json", f"{task}steps/", f"{task}cancel/", action):
        otto.go(path, status=404)
    page = otto.go("/tasks/")
    expect(page.locator("main")).not_to_contain_text(GOAL)
    page = otto.go("/inbox/")
    expect(page.locator("main")).not_to_contain_text("Halden")


def _approves(ben: Visitor, place: Place, address: str) -> None:
    """Pale until the address is typed; nothing has left before that."""
    page = ben.page
    button = page.get_by_role("button", name=re.compile("^Approve"))
    expect(button).to_be_disabled()
    page.locator("#gesture").fill(address.replace("notices", "notice"))
    expect(button).to_be_disabled()
    assert place.arrived(address) == []
    page.locator("#gesture").fill(address)
    expect(button).to_be_enabled()
    shoot(ben, "action-armed", again=False)
    steps.approve(page, address)
    expect(page.locator(".stamp").first).to_contain_text("Ben Okafor")
    expect(page.locator(".life")).to_contain_text("Confirmed")
    ben.axe()
    ben.fits()
    shoot(ben, "action-decided")


def _sees_it_done(ada: Visitor, place: Place, address: str) -> None:
    """Ada's page, still open, shows the end, the signature and the results."""
    page = ada.page
    expect(page.locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="People")).to_contain_text("Ben Okafor")
    expect(page.locator("#results")).to_contain_text("Contract review")
    expect(page.locator("#results").get_by_role("region", name="Rows of findings.csv")).to_contain_text(
        "Halden-lease.txt"
    )
    expect(page.locator("#history")).to_contain_text("chain verified")
    assert [mail["times_by_content"] for mail in place.arrived(address)] == [1]
    ada.axe()
    ada.fits()
    shoot(ada, "task-done")


def _marks_a_finding_wrong(ada: Visitor, visit: Callable[..., Visitor], task: str) -> None:
    """A correction stays, with name and time, also for others."""
    page = ada.go(task)
    finding = page.locator("#findings .found > div", has_text="Governing law").first
    finding.get_by_text("This is wrong").click()
    finding.get_by_label("What is right, and where it stands").fill("Scotland, see the side letter")
    finding.get_by_role("button", name="Mark as wrong").click()
    expect(page.locator("#findings .struck")).to_contain_text("Marked wrong by Ada Lindqvist")
    ben = visit(BEN)
    seen: Page = ben.go(task)
    expect(seen.locator("#findings .struck")).to_contain_text("Scotland, see the side letter")
    seen = ben.go(f"{task}history/")
    expect(seen.locator("main")).to_contain_text("chain verified")
    ben.axe()
    ben.fits()
    shoot(ben, "history")
    ben.go(f"{task}steps/")
    ben.axe()
    ben.fits()
    shoot(ben, "steps")


def _sink_counts_one(visit: Callable[..., Visitor], place: Place, address: str) -> None:
    """The page of the sink: one arrival, word for word."""
    (mail,) = place.arrived(address)
    anybody = visit()
    page = anybody.go(f"{place.sink}/{mail['number']}")
    expect(page.locator(".proof")).to_contain_text("1 time")
    expect(page.locator(".letter")).to_contain_text(address)
    assert mail["times_by_id"] == mail["times_by_content"] == 1
    assert [file["name"] for file in mail["attachments"]] == ["notice.pdf"]
    anybody.axe()
    anybody.fits()
    shoot(anybody, "sink")


def _says_it_came_twice(ada: Visitor, ben: Visitor, task: str) -> None:
    """Ada reports the letter with what she saw; another person looks at it and says why it counts (L20)."""
    page = ada.go(task)
    page.locator("#effects").get_by_role("link", name="It happened twice…").click()
    page.get_by_label("What did you see?").fill("Two letters with the same text on Monday.")
    page.get_by_role("button", name="Report it").click()
    expect(page.get_by_text("It waits for an approver or administrator")).to_be_visible()
    expect(page.get_by_role("button", name="Confirm: it happened twice")).to_have_count(0)
    ada.axe()
    ada.fits()
    page = ben.go("/" + page.url.split("/", 3)[3])
    page.get_by_label("Reason").fill("Both stand in their inbox.")
    ben.axe()
    ben.fits()
    shoot(ben, "duplicate", again=False)
    page.get_by_role("button", name="Confirm: it happened twice").click()
    expect(page.get_by_text("Confirmed by Ben Okafor")).to_be_visible()
    ben.go("/tasks/duplicates/")
    expect(page.get_by_role("row").filter(has_text="Two letters with the same text").first).to_contain_text(
        "confirmed"
    )
    shoot(ben, "duplicates")
