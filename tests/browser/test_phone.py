"""A letter is found, read and approved on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
WIDTH, HEIGHT, TOUCH = 390, 844, 44


def no_wider_than_the_phone(page: Page) -> None:
    assert page.evaluate("() => document.documentElement.scrollWidth") <= WIDTH, page.url


def under_a_thumb(target: Locator) -> float:
    """Whole in sight, and large enough to be met; its height in pixels."""
    expect(target).to_be_in_viewport(ratio=1)
    box = target.bounding_box()
    assert box is not None
    assert box["height"] >= TOUCH, f"{target}: {box}"
    assert box["width"] >= TOUCH, f"{target}: {box}"
    return box["height"]


def test_a_letter_is_approved_on_a_phone(visit: Callable[..., Visitor], place: Place, tmp_path: Path) -> None:
    ada, ben = visit(ADA), visit(BEN, width=WIDTH, height=HEIGHT, touch=True)
    lease = tmp_path / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    address = steps.an_address()
    steps.start(steps.fill_in(ada, [lease], "Review the lease, approved from a phone", address))
    steps.waits(ada.page)
    page = ben.go("/inbox/")
    row = steps.inbox_row(page, address)
    row.scroll_into_view_if_needed()
    under_a_thumb(row)
    no_wider_than_the_phone(page)
    ben.axe()
    shoot(ben, "phone-inbox", again=False, highest=HEIGHT)
    row.click()
    expect(page.locator(".letter")).to_contain_text(address)
    action = page.url
    no_wider_than_the_phone(page)
    approve = page.get_by_role("button", name=re.compile("^Approve"))
    reject = page.get_by_role("button", name="Reject…")
    page.mouse.wheel(0, 100_000)
    # However far somebody has read, both answers are at hand and neither is the smaller target.
    heights = [under_a_thumb(one) for one in (approve, reject)]
    assert heights[0] == pytest.approx(heights[1], abs=1)
    under_a_thumb(page.locator("#gesture"))
    ben.axe()
    shoot(ben, "phone-action", again=False, highest=HEIGHT)
    page.locator("#gesture").fill(address)
    approve.click()
    expect(page.get_by_role("status").filter(has_text="Approved")).to_contain_text(address)
    page.goto(action)
    expect(page.locator(".stamp").first).to_be_visible()
    no_wider_than_the_phone(page)
    ben.axe()
    ben.fits()
    shoot(ben, "phone-decided", again=False, highest=HEIGHT)
    page.locator("nav").get_by_role("link", name=re.compile("^Inbox")).first.click()
    page.wait_for_url("**/inbox/")
    expect(steps.inbox_row(page, address)).to_have_count(0)
    expect(ada.page.locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    assert len(place.arrived(address)) == 1
