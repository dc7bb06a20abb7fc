"""Two people have the same letter open; the slower one is told so, and the letter goes out one time."""

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


def test_the_slower_of_two_approvers_is_told_who_was_faster(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben, mira = visit(ADA), visit(BEN), visit(MIRA)
    # Mira's page hears nothing, as on a train: what she presses was true when she opened it.
    mira.page.route_web_socket("**/ws/**", lambda _socket: None)
    lease = tmp_path / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    address = steps.an_address()
    steps.start(steps.fill_in(ada, [lease], "Review the lease, with two who approve", address))
    steps.waits(ada.page)
    first, second = steps.open_action(ben, address), steps.open_action(mira, address)
    second.locator("#gesture").fill(address)
    mira.missing.add(second.url + "decide/")
    steps.approve(first, address)
    second.get_by_role("button", name=re.compile("^Approve")).click()
    notice = second.get_by_role("status").filter(has_text="was faster")
    expect(notice).to_contain_text("Ben")
    expect(notice).to_contain_text("Approved by")
    expect(second.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    mira.axe()
    mira.fits()
    shoot(mira, "two-approvers", again=False)
    expect(ada.page.locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    assert len(place.arrived(address)) == 1
