"""A note comes while another page is open: the bell says so by itself, the desktop rings, and the item says who was told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
#: Writes what rang on the page, so that the test can wait for it.
EAR = """
window.Notification = class {
  constructor(title, more) { document.documentElement.dataset.rang = `${title}: ${more.body}`; }
};
window.Notification.permission = "granted";
window.Notification.requestPermission = async () => "granted";
"""


def test_the_bell_is_live_and_the_item_says_who_was_told(
    visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    """Guards static/js/notes.js, runs/consumers.py `NotesConsumer` and approvals/present/told.py."""
    ada, ben = visit(ADA), visit(BEN)
    address = steps.an_address()
    ben.page.add_init_script(EAR)
    page = ben.go("/settings/notifications/")
    page.get_by_label("Something waits for my decision. Desktop").select_option("At once")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    page.get_by_role("button", name="Ring on this desktop").click()
    expect(page.get_by_text("Notes ring on this desktop.")).to_be_visible()
    bell = page.locator("#notes-count")
    before = int(re.sub(r"\D", "", bell.text_content() or "0"))
    form = steps.fill_in(ada, papers.hand_in(tmp_path)[:1], "Tell somebody", address)
    steps.start(form)
    expect(bell).to_have_text(re.compile(rf"^{before + 1}\b"))
    expect(page).to_have_url(re.compile("/settings/notifications/$"))
    rang = "Countersign: There is something new for you."
    expect(page.locator("html")).to_have_attribute("data-rang", rang)
    page.get_by_role("link", name="Notes", exact=False).filter(has=page.locator("#notes-count")).click()
    expect(page.get_by_role("heading", level=1, name="Notes")).to_be_visible()
    ben.axe()
    ben.fits()
    shoot(ben, "notes-one", again=False)
    page.locator(".notes .unread button", has_text=address).click()
    expect(page.locator("#decide")).to_be_visible()
    page.locator("#told summary").click()
    told = page.locator("#told")
    expect(told).to_contain_text("Ben Okafor")
    # The mail server of the house takes it a moment later; the page is live, and shows it then.
    expect(told).to_contain_text("taken by the mail server")
    ben.axe()
    ben.fits()
