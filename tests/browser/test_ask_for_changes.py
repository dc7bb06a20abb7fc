"""An approver asks for changes; the agent proposes again, and that is approved and arrives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, Place
from tests.browser.test_other_ways import before_a_person
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_the_agent_proposes_again_what_the_approver_asked_for(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben = visit(ADA), visit(BEN)
    address = steps.an_address()
    task = before_a_person(ada, tmp_path, "Review the lease, with a second letter", address)
    page = steps.open_action(ben, address)
    page.get_by_role("button", name="Ask for changes…").click()
    dialog = page.get_by_role("dialog", name="Ask for changes")
    dialog.get_by_role("button", name="Send back").click()
    expect(dialog).to_be_visible()
    ben.axe()
    dialog.get_by_label("What should be different").fill('Replace "Kind regards" with "Yours faithfully"')
    dialog.get_by_role("button", name="Send back").click()
    expect(page.get_by_role("status").filter(has_text=address)).to_be_visible()
    page = ben.go("/inbox/")
    row = steps.inbox_row(page, address)
    expect(row).to_have_count(1)
    row.click()
    expect(page.locator("#action")).to_contain_text(
        "Ben Okafor asked for changes to the proposal before this one."
    )
    expect(page.locator(".letter")).to_contain_text("Yours faithfully")
    expect(page.locator(".diff").first).to_contain_text("Yours faithfully")
    ben.axe()
    ben.fits()
    shoot(ben, "second-proposal", again=False)
    steps.approve(page, address)
    expect(ada.page.locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    assert len(place.arrived(address)) == 1
    expect(ada.go(task).locator("main")).to_contain_text(re.compile("Write the letter anew"))


def test_what_the_agent_cannot_do_the_submitter_writes(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben = visit(ADA), visit(BEN)
    address = steps.an_address()
    task = before_a_person(ada, tmp_path, "Review the lease, with words of the submitter", address)
    page = steps.open_action(ben, address)
    page.get_by_role("button", name="Ask for changes…").click()
    dialog = page.get_by_role("dialog", name="Ask for changes")
    dialog.get_by_label("What should be different").fill("Much friendlier, please.")
    dialog.get_by_role("button", name="Send back").click()
    expect(page.get_by_role("status").filter(has_text=address)).to_be_visible()
    page = ada.go("/inbox/")
    page.locator("[data-row]", has_text="How should it read?").last.click()
    expect(page.locator("main")).to_contain_text("Much friendlier, please.")
    text = page.get_by_label("Letter")
    expect(text).to_have_value(re.compile("^Dear Sir or Madam"))
    text.fill("Dear friends at Halden,\n\nwe shall not renew. It was a pleasure.\n")
    ada.axe()
    ada.fits()
    page.get_by_role("button", name="Record the answer").click()
    expect(page.get_by_role("status").filter(has_text="Answered")).to_be_visible()
    page = steps.open_action(ben, address)
    expect(page.locator(".letter")).to_contain_text("It was a pleasure.")
    steps.approve(page, address)
    expect(ada.go(task).locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    assert len(place.arrived(address)) == 1
