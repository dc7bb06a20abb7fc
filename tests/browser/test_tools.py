"""The administrator changes a contract and sees what it means before anybody else feels it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, expect

from tests.browser.camera import shoot
from tests.browser.place import JONAS
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_rule_is_seen_at_work_while_it_is_typed_then_published(visit: Callable[..., Visitor]) -> None:
    jonas = visit(JONAS)
    page = jonas.go("/tools/drill.effect/")
    meaning = page.locator("#consequences")
    expect(meaning.get_by_text("Runs by itself")).to_be_visible()
    page.get_by_label("Arguments, as JSON").fill('{"amount": 740}')
    line = page.locator(".rulebook tbody tr").first
    line.locator("input").nth(0).fill("amount")
    line.locator("input").nth(1).fill("500")
    line.locator("input").last.fill("Amounts over 500 are looked at.")
    expect(meaning.get_by_text("1 person must agree")).to_be_visible()
    expect(meaning.get_by_text("Runs by itself")).to_be_visible()  # what the version in force says
    jonas.axe()
    shoot(jonas, "tool-draft", again=False)
    page.get_by_role("button", name="Save and review").click()
    expect(page.get_by_role("heading", name="1 change")).to_be_visible()
    jonas.axe()
    jonas.fits()
    shoot(jonas, "tool-changes")
    page.get_by_role("button", name="Publish version 2").click()
    expect(page.get_by_text("Version 2 is in force")).to_be_visible()
    jonas.go("/tools/?kind=drills")
    row = page.get_by_role("row").filter(has=page.locator('.goal a[href="/tools/drill.effect/"]')).first
    expect(row.get_by_text("Amounts over 500 are looked at.")).to_be_visible()


def test_the_chosen_way_of_calling_decides_which_connection_is_asked_for(
    visit: Callable[..., Visitor],
) -> None:
    jonas = visit(JONAS)
    page = jonas.go("/tools/drill.noop/")
    statement, model = page.locator("#id_sql_statement"), page.locator("#id_model_name")
    connection = page.locator("#id_config")
    expect(connection).to_be_visible()
    expect(statement).to_be_hidden()
    way = page.locator("#id_adapter")
    way.select_option("model")
    expect(model).to_be_visible()
    expect(connection).to_be_hidden()
    jonas.fits()
    way.select_option("sql")
    expect(statement).to_be_visible()
    expect(model).to_be_hidden()
    statement.fill("SELECT count(*) FROM orders")
    unnamed = page.locator("#consequences").get_by_text("auth names no secret")
    expect(unnamed).not_to_have_count(0)
    page.get_by_label("Secret with the address").fill("warehouse")
    expect(unnamed).to_have_count(0)
    jonas.fits()


def test_a_tool_is_paused_with_a_reason_that_everybody_reads(visit: Callable[..., Visitor]) -> None:
    jonas = visit(JONAS)
    page = jonas.go("/tools/drill.undo/pause/")
    page.get_by_label("Reason").fill("The other side is being moved.")
    page.get_by_role("button", name="Pause the tool").click()
    expect(page.get_by_text("The other side is being moved.")).to_be_visible()
    shoot(jonas, "tools-paused")
    page.get_by_role("row").filter(has_text="drill.undo").get_by_role("switch").click()
    expect(page.get_by_text("The other side is being moved.")).to_have_count(0)


def test_a_tool_that_reads_is_tried_from_its_editor(visit: Callable[..., Visitor]) -> None:
    """A node calls it; the page shows the answer when it is there. What changes the world cannot be tried."""
    jonas = visit(JONAS)
    page = jonas.go("/tools/drill.noop/")
    page.get_by_label("Arguments, as JSON").fill('{"sample": true}')
    page.get_by_role("button", name="Call version 1 with it").click()
    answer = page.locator("#test-call")
    expect(answer.get_by_text("Done")).to_be_visible()
    expect(answer.get_by_role("region", name="Answer of the test call")).to_contain_text("ok")
    jonas.axe()
    jonas.fits()
    shoot(jonas, "tool-test-call", again=False)
    page = jonas.go("/tools/drill.effect_final/")
    expect(page.get_by_text("No test call: it changes the world")).to_be_visible()


def test_what_is_typed_into_the_editor_is_not_lost_without_a_question(visit: Callable[..., Visitor]) -> None:
    jonas = visit(JONAS)
    page = jonas.go("/tools/drill.sleep/")
    page.get_by_label("Tries", exact=True).fill("7")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.get_by_role("link", name="History", exact=True).click()
    expect(page.get_by_label("Tries", exact=True)).to_have_value("7")
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("is saved. It is not in force.")).to_be_visible()
