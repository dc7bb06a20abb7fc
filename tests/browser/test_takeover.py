"""A task that used up what it was given: a person sees why, gives it more, and it goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_task_that_ran_out_of_steps_is_given_more_and_ends(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben = visit(ADA), visit(BEN)
    files = []
    for name in ("Halden-lease.txt", "Halden-copy.txt"):
        files.append(tmp_path / name)
        files[-1].write_bytes(papers.lease() + name.encode())
    page = steps.fill_in(ada, files, "Review two leases on a short budget")
    page.get_by_role("region", name="Limits").get_by_label("Steps").fill("2")
    ada.axe()
    ada.fits()
    shoot(ada, "new-task-limits", again=False)
    task = steps.start(page)
    expect(page.locator("main")).to_contain_text("It cannot go on by itself.")
    shoot(ada, "task-paused")
    page = ben.go(task)
    page.get_by_role("link", name="See why", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("steps")
    expect(page.get_by_role("region", name="What is done and what is left")).to_contain_text(
        "Halden-lease.txt"
    )
    ben.axe()
    ben.fits()
    shoot(ben, "takeover")
    page.get_by_label("How many more steps").fill("20")
    page.get_by_role("radio", name="Continue").check()
    page.get_by_role("textbox", name="Note").fill("Two leases are worth it.")
    page.get_by_role("button", name="Continue the task").click()
    expect(page.get_by_role("status").filter(has_text="The task goes on")).to_be_visible()
    expect(ben.go(task).locator("main .head").get_by_text("Done", exact=True)).to_be_visible()
    expect(page.locator("main")).to_contain_text("Halden-copy.txt")
