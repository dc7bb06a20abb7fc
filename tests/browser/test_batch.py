"""Three letters wait; they are chosen by key and decided together, and one stops holding in between."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, MIRA, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_three_are_decided_together_and_one_stops_holding(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben, mira = visit(ADA), visit(BEN), visit(MIRA)
    lease = tmp_path / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    addresses = [steps.an_address() for _ in range(3)]
    for address in addresses:
        steps.start(steps.fill_in(ada, [lease], f"Review the lease for {address}", address))
        steps.waits(ada.page)
    page = ben.go("/inbox/")
    for address in addresses:
        steps.inbox_row(page, address).focus()
        page.keyboard.press("x")
        expect(page.get_by_role("checkbox", name=re.compile(re.escape(address)))).to_be_checked()
    expect(page.locator("[data-together-count]")).to_have_text("3")
    ben.axe()
    shoot(ben, "inbox-chosen", again=False)
    page.get_by_role("button", name="Decide together").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("3 things")
    for address in addresses:
        expect(page.locator(".batch")).to_contain_text(address)
    ben.axe()
    ben.fits()
    shoot(ben, "batch", again=False)
    other = steps.open_action(mira, addresses[1])
    other.keyboard.press("r")
    other.get_by_label("Reason").fill("Wrong year.")
    other.get_by_role("button", name="Reject", exact=True).click()
    expect(other.get_by_role("status").filter(has_text="Rejected")).to_contain_text(addresses[1])
    page.locator("#gesture").fill("3")
    ben.missing.add(place.url + "/inbox/batch/decide/")
    page.get_by_role("button", name="Approve all 3").click()
    expect(page.locator(".banner.failed")).to_contain_text("does not hold")
    expect(page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    ben.axe()
    shoot(ben, "batch-stopped", again=False)
    page.locator("#decide").get_by_role("link", name=re.compile("^Take row")).click()
    page.locator("#gesture").fill("2")
    page.get_by_role("button", name="Approve all 2").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("2 things were decided together")
    ben.axe()
    shoot(ben, "batch-done", again=False)
    for number, address in enumerate(addresses):
        if number != 1:
            row = page.locator(".batch li", has_text=address)
            expect(row).to_have_count(1)
            expect(row).to_contain_text("Approved by")
    ada.go("/tasks/")
    expect(ada.page.locator("tr[data-row]", has_text=addresses[2]).first).to_contain_text("Done")
    assert [len(place.arrived(address)) for address in addresses] == [1, 0, 1]
