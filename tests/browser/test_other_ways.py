"""The story when somebody says no, or stops it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def before_a_person(ada: Visitor, folder: Path, goal: str, address: str) -> str:
    """A task of one contract that waits for the approval of its letter; its path."""
    lease = folder / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    task = steps.start(steps.fill_in(ada, [lease], goal, address))
    steps.waits(ada.page)
    return task


def test_a_rejected_letter_is_not_sent_and_the_reason_is_told(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben = visit(ADA), visit(BEN)
    address = steps.an_address()
    before_a_person(ada, tmp_path, "Review the lease, with a letter that is refused", address)
    page = steps.open_action(ben, address)
    action = page.url
    page.get_by_role("button", name="Reject…").click()
    dialog = page.get_by_role("dialog", name="Reject: nothing is sent")
    expect(dialog).to_be_visible()
    ben.axe()
    dialog.get_by_role("button", name="Reject", exact=True).click()
    expect(dialog).to_be_visible()
    dialog.get_by_label("Reason").fill("We want to keep this lease.")
    dialog.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Rejected")).to_contain_text(address)
    page.goto(action)
    expect(page.locator("main")).to_contain_text("We want to keep this lease.")
    expect(page.locator(".stamp")).to_have_count(0)
    page = ada.page
    expect(page.locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("We want to keep this lease.")
    expect(page.locator("#results")).to_contain_text("report.md")
    assert place.arrived(address) == []
    ada.axe()
    ada.fits()
    shoot(ada, "task-rejected")


def test_a_cancelled_task_says_what_stays_and_closes_its_approval(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben = visit(ADA), visit(BEN)
    address = steps.an_address()
    task = before_a_person(ada, tmp_path, "Review the lease, then stop", address)
    steps.open_action(ben, address)
    page = ada.page
    page.get_by_role("link", name="Cancel task…").click()
    sheet = page.get_by_role("dialog", name="Cancel this task?")
    expect(sheet).to_contain_text("Will not happen")
    expect(sheet).to_contain_text(address)
    expect(sheet).to_contain_text("Done and stays")
    ada.axe()
    ada.fits()
    shoot(ada, "cancel-sheet", again=False, highest=900)
    sheet.get_by_role("link", name="Keep it running").click()
    expect(sheet).to_have_count(0)
    page.get_by_role("link", name="Cancel task…").click()
    sheet.get_by_label("Reason, for the record").fill("Settled by telephone")
    sheet.get_by_role("button", name=re.compile("^Cancel")).click()
    expect(page.locator("main .head").get_by_text("Cancelled", exact=True)).to_be_visible()
    expect(page.locator("#outcome")).to_contain_text("Settled by telephone")
    expect(page.locator("#results")).to_contain_text("report.md")
    ada.axe()
    ada.fits()
    shoot(ada, "task-cancelled")
    expect(ben.page.locator("main")).to_contain_text("Withdrawn")
    expect(ben.page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    assert place.arrived(address) == []
    expect(ben.go(task).locator("main .head")).to_contain_text("Cancelled")
