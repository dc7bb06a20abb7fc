"""What people do, in the words of the story. Each step ends when its effect can be seen."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.visitor import Visitor

TASK = re.compile(r"/tasks/run_[0-9a-f]{32}/$")


def an_address() -> str:
    """Nobody wrote there before: what arrives is the letter of this test."""
    return f"notices-{uuid.uuid4().hex[:8]}@halden-leasing.example"


def fill_in(ada: Visitor, files: Sequence[Path], goal: str, address: str = "") -> Page:
    """The form of a new task, complete and not sent yet; every file is kept and the plan is drawn."""
    page = ada.go("/tasks/new/")
    page.get_by_label("Goal").fill(goal)
    if address:
        page.get_by_label("Address for the notice").fill(address)
    page.locator("input[type=file]").set_input_files(files)
    for file in files:
        expect(file_row(page, file.name).get_by_role("img", name="kept", exact=True)).to_be_visible()
    expect(plan(page).get_by_role("listitem")).to_have_count(len(files) + 1 + bool(address))
    return page


def file_row(page: Page, name: str) -> Locator:
    return page.locator("li[data-file]", has_text=name)


def plan(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Plan preview")


def start(page: Page) -> str:
    """Press the button; the path of the task that this made."""
    plan(page).get_by_role("button", name=re.compile("^Start with")).click()
    page.wait_for_url(TASK)
    return "/" + page.url.split("/", 3)[3]


def waits(page: Page) -> None:
    """The task stands before a person."""
    expect(page.locator("main .head").get_by_text("Waiting for approval").first).to_be_visible()


def inbox_row(page: Page, address: str) -> Locator:
    return page.locator("[data-row]", has_text=address)


def open_action(ben: Visitor, address: str) -> Page:
    """From the inbox to the action on this address."""
    page = ben.go("/inbox/")
    inbox_row(page, address).click()
    expect(page.locator("#decide")).to_be_visible()
    expect(page.locator(".letter")).to_contain_text(address)
    return page


def approve(page: Page, address: str) -> None:
    """The second gesture, then the button that it opens. The inbox goes on to the next item; this one is kept open."""
    action = page.url
    page.locator("#gesture").fill(address)
    page.get_by_role("button", name=re.compile("^Approve")).click()
    expect(page.get_by_role("status").filter(has_text="Approved")).to_contain_text(address)
    page.goto(action)
    expect(page.locator(".stamp").first).to_be_visible()
