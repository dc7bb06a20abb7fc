"""Tools that nobody here wrote: from a server on PyPI into a task, and one of them only with a signature."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.books import SERVER, Books
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, JONAS, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
STATUS, COMMIT = f"{SERVER}.git_status", f"{SERVER}.git_commit"
SUBJECT = "Close the month"


def test_a_server_from_pypi_is_imported_confirmed_and_used(
    visit: Callable[..., Visitor], place: Place
) -> None:
    jonas, ada, ben = visit(JONAS), visit(ADA), visit(BEN)
    _imports(jonas)
    for name in (STATUS, COMMIT):
        _confirms(jonas, name)
    task = _submits(ada, place.books)
    assert place.books.commits(SUBJECT) == 0, "nothing happens before a person has agreed"
    _approves(ben)
    _sees_it_done(ada, task, place.books)


def _imports(jonas: Visitor) -> None:
    """A worker asks the server; what it says is text, and its hints are claims."""
    page = jonas.go("/tools/import/")
    page.get_by_role("link", name="From an MCP server").click()
    page.get_by_label("Names begin with").fill(SERVER)
    page.get_by_label(re.compile("^Server")).select_option(SERVER)
    jonas.axe()
    jonas.fits()
    shoot(jonas, "import-mcp", again=False)
    page.get_by_role("button", name="Ask for its tools").click()
    expect(page.get_by_role("heading", name=re.compile(r"^\d+ tools$"))).to_be_visible()
    status, commit = (page.get_by_role("row").filter(has_text=name) for name in (STATUS, COMMIT))
    expect(status).to_contain_text("it only reads")
    expect(status).to_contain_text("Read-only")
    expect(commit).to_contain_text("it changes something")
    expect(commit).to_contain_text("Cannot be undone")
    jonas.axe()
    jonas.fits()
    shoot(jonas, "import-mcp-list", highest=1400)
    status.get_by_role("checkbox").check()
    commit.get_by_role("checkbox").check()
    page.get_by_role("button", name="Import as drafts").click()
    expect(page.get_by_text("2 tools are imported as drafts")).to_be_visible()


def _confirms(jonas: Visitor, name: str) -> None:
    page = jonas.go(f"/tools/{name}/changes/")
    page.get_by_role("button", name="Publish version 1").click()
    expect(page.get_by_text("Version 1 is in force")).to_be_visible()


def _submits(ada: Visitor, books: Books) -> str:
    """Chosen by title, with the verdict on each step before anything starts."""
    page = ada.go("/tasks/new/")
    page.get_by_role("link", name=re.compile("Steps you choose")).click()
    page.get_by_label("Goal").fill("Close the month in the books")
    where = {"repo_path": str(books.folder)}
    for number, (tool, arguments) in enumerate(((STATUS, where), (COMMIT, {**where, "message": SUBJECT})), 1):
        page.get_by_label(f"Tool of step {number}", exact=True).select_option(tool)
        page.get_by_label(f"Arguments of step {number}, as JSON", exact=True).fill(json.dumps(arguments))
    plan = steps.plan(page)
    page.get_by_label("Goal").press("Tab")
    expect(plan.get_by_role("listitem")).to_have_count(2)
    expect(plan.get_by_role("listitem").last).to_contain_text("Asks first:")
    expect(plan.get_by_text("Asks first:")).to_have_count(1)
    ada.axe()
    ada.fits()
    shoot(ada, "new-task-steps", again=False, highest=1400)
    plan.get_by_role("button", name="Start the task").click()
    page.wait_for_url(steps.TASK)
    steps.waits(page)
    return "/" + page.url.split("/", 3)[3]


def _approves(ben: Visitor) -> None:
    page = ben.go("/inbox/")
    page.locator("[data-row]", has_text="git_commit").first.click()
    expect(page.locator("#decide")).to_be_visible()
    expect(page.locator("main")).to_contain_text(SUBJECT)
    ben.axe()
    ben.fits()
    shoot(ben, "action-mcp")
    _signs(page)


def _signs(page: Page) -> None:
    gesture = page.locator("#gesture")
    if gesture.count():
        gesture.fill(gesture.get_attribute("data-expected") or "")
    page.get_by_role("button", name=re.compile("^Approve")).click()
    expect(page.get_by_role("status").filter(has_text="Approved")).to_be_visible()


def _sees_it_done(ada: Visitor, task: str, books: Books) -> None:
    """The effect is in the world, once."""
    page = ada.go(task)
    expect(page.locator("main .head").get_by_text("Done", exact=True).first).to_be_visible()
    assert books.commits(SUBJECT) == 1
    assert books.git("status", "--porcelain").strip() == ""
    ada.axe()
    ada.fits()
