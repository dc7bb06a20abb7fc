"""Keys, language and colours: what belongs to the person and stays with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.place import ADA, BEN
from tests.browser.visitor import Visitor

# The first test of a session waits for its house to come up.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_keys_lead_through_the_house(visit: Callable[..., Visitor]) -> None:
    ada = visit(ADA)
    page = ada.go("/tasks/")
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox/")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/tasks/")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard")
    expect(keys).to_be_visible()
    ada.axe()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("n")
    page.wait_for_url("**/tasks/new/**")


def test_letters_typed_into_a_field_are_letters(visit: Callable[..., Visitor]) -> None:
    page = visit(ADA).go("/tasks/new/")
    page.get_by_label("Goal").press_sequentially("gin?/jk")
    expect(page.get_by_label("Goal")).to_have_value("gin?/jk")
    assert page.url.endswith("/tasks/new/")


def test_j_and_k_move_through_rows_and_enter_opens(visit: Callable[..., Visitor]) -> None:
    """Two drafts of the list are enough: samples are started where there is nothing yet."""
    ada = visit(ADA)
    for goal in ("Row one", "Row two"):
        page = ada.go("/tasks/new/?sample=secrecy")
        page.get_by_label("Goal").fill(goal)
        page.get_by_role("button", name="Start with 1 file").click()
        page.wait_for_url("**/tasks/run_*/")
    page = ada.go("/tasks/?q=Row")
    links = page.locator("a[data-row-link]")
    expect(links).to_have_count(2)
    page.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/tasks/run_*/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Row two")


def test_the_language_changes_the_page_and_stays(visit: Callable[..., Visitor]) -> None:
    ben = visit(BEN)
    page = ben.go("/inbox/")
    page.get_by_role("button", name="中文 (Chinese)").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(page.get_by_role("heading", level=1, name="待办")).to_be_visible()
    ben.axe()
    ben.fits()
    page = ben.go("/tasks/")
    expect(page.get_by_role("heading", level=1)).to_have_text("任务")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_colours_are_kept_and_sent_with_the_first_byte(visit: Callable[..., Visitor]) -> None:
    """No flash: the server writes the theme into the page."""
    ada = visit(ADA)
    page = ada.go("/tasks/")
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert 'data-theme="dark"' in ada.context.request.get(ada.place.url + "/tasks/").text()
    page = ada.go("/inbox/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
