"""A letter that waits is handed to a colleague who is away, taken back by an administrator, and set aside."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, JONAS, MIRA
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_question_goes_from_hand_to_hand(visit: Callable[..., Visitor], tmp_path: Path) -> None:
    ada, ben, mira, jonas = visit(ADA), visit(BEN), visit(MIRA), visit(JONAS)
    lease = tmp_path / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    address = steps.an_address()
    steps.start(steps.fill_in(ada, [lease], "Review the lease, handed on", address))
    steps.waits(ada.page)
    _away(mira)
    page = steps.open_action(ben, address)
    action = page.url
    page.get_by_role("button", name="More ways to answer").click()
    page.get_by_role("button", name="Hand to somebody").click()
    dialog = page.get_by_role("dialog", name="Hand it to somebody")
    expect(dialog.get_by_role("option", name="Mira")).to_contain_text("away until")
    dialog.get_by_label("Hand it to", exact=True).select_option(index=1)
    dialog.get_by_label("A word to them").fill("You know Halden.")
    ben.axe()
    ben.fits()
    shoot(ben, "hand-over", again=False)
    dialog.get_by_role("button", name="Hand over").click()
    expect(page.get_by_text("Handed over.")).to_be_visible()
    ben.go(action)
    expect(page.get_by_role("main").get_by_text("You handed this to Mira").first).to_be_visible()
    expect(page.get_by_text("You know Halden.").first).to_be_visible()
    boss = jonas.go(action)
    boss.get_by_role("button", name="Ask everybody again").click()
    expect(boss.get_by_text("It is for everybody again")).to_be_visible()
    # It is for Ben again.
    ben.go(action)
    page.get_by_role("button", name="More ways to answer").click()
    page.get_by_role("button", name="Set aside until").click()
    aside = page.get_by_role("dialog", name="Set it aside")
    tomorrow = datetime.now().astimezone() + timedelta(days=1)
    aside.get_by_label("Until").fill(tomorrow.strftime("%Y-%m-%dT%H:%M"))
    ben.axe()
    aside.get_by_role("button", name="Set aside").click()
    expect(page.get_by_text("Set aside.")).to_be_visible()
    ben.go("/inbox/?tab=aside")
    expect(steps.inbox_row(page, address)).to_be_visible()
    shoot(ben, "set-aside", again=False)
    ben.go("/inbox/")
    expect(steps.inbox_row(page, address)).to_have_count(0)
    mira.go("/settings/away/").get_by_role("button", name="End it").click()
    expect(mira.page.get_by_text("It counts no more.")).to_be_visible()


def test_an_administrator_keeps_a_group(visit: Callable[..., Visitor]) -> None:
    jonas = visit(JONAS)
    page = jonas.go("/people/groups/")
    page.get_by_label("Name").fill("Finance and everything that has a very long name to be read whole")
    page.get_by_role("button", name="Add the group").click()
    page.get_by_label("Mira").check()
    jonas.axe()
    jonas.fits()
    shoot(jonas, "group", again=False)
    page.get_by_role("button", name="Save").click()
    row = page.locator("[data-row]", has_text="Finance and everything")
    expect(row).to_contain_text("Mira")
    jonas.axe()
    jonas.fits()
    shoot(jonas, "groups", again=False)
    row.get_by_role("link", name="Change").click()
    page.get_by_role("button", name="Close this group").click()
    expect(row).to_have_count(0)


def _away(mira: Visitor) -> None:
    """From an hour ago until tomorrow."""
    page = mira.go("/settings/away/")
    now = datetime.now().astimezone()
    page.get_by_label("Away from").fill((now - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M"))
    page.get_by_label("Until").fill((now + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M"))
    page.get_by_label("Who stands in").select_option(label="Ben Okafor")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("cell", name="Ben Okafor")).to_be_visible()
    mira.axe()
    mira.fits()
    shoot(mira, "away", again=False)
