"""An approver mends a letter before it leaves; another one approves that version, and that version arrives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, MIRA, Place
from tests.browser.test_other_ways import before_a_person
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_what_one_approver_edited_another_one_approves(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben, mira = visit(ADA), visit(BEN), visit(MIRA)
    address = steps.an_address()
    task = before_a_person(ada, tmp_path, "Review the lease, with a letter that is mended", address)
    page = steps.open_action(ben, address)
    first = page.url
    page.get_by_role("link", name="Edit…").click()
    expect(page.get_by_role("heading", name="Edit what would be sent")).to_be_visible()
    ben.axe()
    ben.fits()
    shoot(ben, "edit", again=False)
    page.get_by_label("subject").fill("")
    page.get_by_label("Why you changed it").fill("The tone was too sharp.")
    page.get_by_role("button", name="Ask the new version").click()
    expect(page.get_by_label("Why you changed it")).to_have_value("The tone was too sharp.")
    page.get_by_label("subject").fill("Our lease, and what comes after it")
    page.get_by_role("button", name="Ask the new version").click()
    expect(page.get_by_role("status").filter(has_text="somebody else has to approve it")).to_be_visible()
    expect(page.locator("#action")).to_contain_text("Ben Okafor changed what the agent proposed.")
    expect(page.locator("#action")).to_contain_text("The tone was too sharp.")
    expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    ben.axe()
    ben.fits()
    shoot(ben, "action-edited", again=False)
    second = page.url
    assert second != first
    expect(ben.go("/" + first.split("/", 3)[3]).locator("#action")).to_contain_text("Newer version")
    page = mira.go("/" + second.split("/", 3)[3])
    expect(page.locator(".diff")).to_contain_text("Our lease, and what comes after it")
    steps.approve(page, address)
    expect(ada.page.locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    (letter,) = place.arrived(address)
    assert letter["subject"] == "Our lease, and what comes after it"
    expect(ada.go(f"{task}history/").locator("main")).to_contain_text(
        "Changed by a person before it was sent"
    )
