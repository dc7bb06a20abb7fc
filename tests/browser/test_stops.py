"""An administrator stops everything; everybody reads who and why; lifted, the work goes on by itself. And a total is typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, JONAS
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
WHY = "The bank called about a wrong account."


def test_everything_is_stopped_and_goes_on_by_itself(visit: Callable[..., Visitor], tmp_path: Path) -> None:
    jonas, ada = visit(JONAS), visit(ADA)
    page = jonas.go("/tools/")
    page.get_by_role("link", name="Stop switches").click()
    page.get_by_role("link", name="Stop everything…").click()
    page.get_by_label("Reason").fill(WHY)
    jonas.axe()
    jonas.fits()
    shoot(jonas, "stop-everything", again=False)
    page.get_by_label("Yes, stop it").check()
    page.get_by_role("button", name="Stop everything").click()
    expect(page.get_by_role("cell", name=WHY)).to_be_visible()
    try:
        task = _starts(ada, tmp_path)
        jonas.axe()
        jonas.fits()
        shoot(jonas, "stops", again=False)
        shoot(ada, "task-stopped", again=False)
        jonas.go(task)
        expect(page.get_by_text("stopped everything.")).to_be_visible()
    finally:
        _lifts(jonas)
    # No reload: the page of the task hears that it goes on.
    expect(ada.page.get_by_role("link", name="See the open approval")).to_be_visible()


def _starts(ada: Visitor, folder: Path) -> str:
    """A new task says before it starts that it will wait, and why; started, it waits."""
    page = steps.fill_in(ada, papers.hand_in(folder)[:1], "Review one contract", steps.an_address())
    expect(steps.plan(page).get_by_text(WHY).first).to_be_visible()
    task = steps.start(page)
    expect(page.get_by_text("stopped everything.")).to_be_visible()
    expect(page.get_by_text(WHY)).to_be_visible()
    expect(page.get_by_text("Stopped by Jonas Weber")).to_be_visible()
    ada.axe()
    ada.fits()
    return task


def _lifts(jonas: Visitor) -> Page:
    page = jonas.go("/stops/")
    page.get_by_role("link", name="Lift…").click()
    page.get_by_label("Yes, let it go on").check()
    page.get_by_role("button", name="Lift the stop").click()
    expect(page.get_by_text("Nothing is stopped.")).to_be_visible()
    return page


def test_a_total_is_seen_at_work_while_it_is_typed(visit: Callable[..., Visitor]) -> None:
    jonas = visit(JONAS)
    page = jonas.go("/tools/drill.post/")
    meaning = page.locator("#consequences")
    page.get_by_label("Arguments, as JSON").fill('{"amount": "1000.01"}')
    line = page.locator(".rulebook tbody tr").first
    line.locator("input").nth(0).fill("amount")
    line.locator("select").first.select_option("total_day")
    line.locator("input").nth(1).fill("1000.00")
    expect(meaning.get_by_text("1 person must agree")).to_be_visible()
    expect(meaning.get_by_text("with this call 1000.01")).to_be_visible()
    page.get_by_text("More for this line").first.click()
    jonas.axe()
    jonas.fits()
    shoot(jonas, "tool-total", again=False)
    page.get_by_label("Arguments, as JSON").fill('{"amount": "1000.00"}')
    expect(meaning.get_by_text("Runs by itself").first).to_be_visible()
