"""From the sign-in to a decided letter with keys alone, the focus in sight at every step."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, PASSWORD, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def stands_on(page: Page, target: Locator) -> None:
    """The focus is there, drawn, and nothing lies over it."""
    expect(target).to_be_focused()
    drawn = target.evaluate(
        """one => {
            const style = getComputedStyle(one), box = one.getBoundingClientRect();
            const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            return {ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
                    free: one === top || one.contains(top) || Boolean(top?.contains(one))};
        }"""
    )
    assert drawn == {"ring": True, "free": True}, f"{page.url}: {target}: {drawn}"


def tab_to(page: Page, target: Locator) -> None:
    """As often as it takes, within reason."""
    for _ in range(40):
        if target.evaluate("one => one === document.activeElement"):
            break
        page.keyboard.press("Tab")
    stands_on(page, target)


def sign_in(ben: Visitor) -> Page:
    page = ben.go("/sign-in/")
    tab_to(page, page.get_by_label("E-mail"))
    page.keyboard.type(BEN)
    tab_to(page, page.get_by_label("Password", exact=True))
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    return page


def walk_to(page: Page, row: Locator) -> None:
    """`j` until the row that names the address has the focus."""
    expect(row).to_be_visible()
    for _ in range(page.locator("[data-row]").count()):
        page.keyboard.press("j")
        if row.evaluate("one => one === document.activeElement"):
            break
    stands_on(page, row)


def test_a_letter_is_approved_with_keys_alone(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada = visit(ADA)
    lease = tmp_path / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    address, other = steps.an_address(), steps.an_address()
    for one in (address, other):
        steps.start(steps.fill_in(ada, [lease], f"Review the lease for {one}", one))
        steps.waits(ada.page)
    ben = visit()
    page = sign_in(ben)
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox/")
    walk_to(page, steps.inbox_row(page, address))
    page.keyboard.press("Enter")
    page.wait_for_url("**/inbox/act_*/")
    action = page.url
    expect(page.locator(".letter")).to_contain_text(address)
    page.keyboard.press("a")
    gesture = page.locator("#gesture")
    stands_on(page, gesture)
    shoot(ben, "keyboard-gesture", again=False)
    # The letters of an address are typed, never taken for commands.
    page.keyboard.type(address)
    expect(gesture).to_have_value(address)
    page.keyboard.press("Tab")
    stands_on(page, page.get_by_role("button", name=re.compile("^Approve")))
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Approved")).to_contain_text(address)
    # The next thing to decide is open, and the same keys work on it.
    expect(page.locator("#decide")).to_be_visible()
    assert page.url != action
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="Reject: nothing is sent")
    expect(dialog).to_be_visible()
    stands_on(page, dialog.get_by_label("Reason"))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    stands_on(page, page.get_by_role("button", name="Reject…"))
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox/")
    page.keyboard.press("?")
    expect(page.locator("dialog#help")).to_be_visible()
    page.keyboard.press("Escape")
    row = steps.inbox_row(page, other)
    walk_to(page, row)
    page.keyboard.press("Enter")
    expect(page.locator(".letter")).to_contain_text(other)
    expect(ada.go("/tasks/").locator("tr[data-row]", has_text=address).first).to_contain_text("Done")
    assert len(place.arrived(address)) == 1
    assert place.arrived(other) == []
