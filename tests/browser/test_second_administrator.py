"""Publishing takes two: one administrator writes and asks, another one looks at exactly that; switching it off takes two as well."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.camera import shoot
from tests.browser.place import JONAS, VERA
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
TOOL = "/tools/drill.spend/"
NOTE = "The bank asks for fewer tries."
REASON = "Two tries are too few on a bad line."


def test_what_one_administrator_wrote_another_one_publishes(visit: Callable[..., Visitor]) -> None:
    jonas, vera = visit(JONAS), visit(VERA)
    jonas.go("/tools/two-people/").get_by_role("button", name="Ask for two from now on").click()
    expect(jonas.page.get_by_text("Publishing takes two")).to_be_visible()
    try:
        _asks(jonas, tries="2")
        _looked_at(jonas, "tool-review-asked")
        _sends_back(vera)
        _reads_why(jonas)
        _asks(jonas, tries="4")
        _a_change_voids_it(jonas, vera)
        _asks(jonas, tries="6")
        page = vera.go(f"{TOOL}changes/")
        page.get_by_role("button", name="Publish version").click()
        expect(page.get_by_text("is in force")).to_be_visible()
    finally:
        _two_switch_it_off(jonas, vera)


def _asks(jonas: Visitor, *, tries: str) -> None:
    """A draft that says something new, and the wish that somebody looks at it; the author cannot publish."""
    page = _saves(jonas, tries)
    expect(page.get_by_role("button", name="Publish version")).to_have_count(0)
    page.get_by_label("What should they know?").fill(NOTE)
    page.get_by_role("button", name="Ask for a review").click()
    expect(page.get_by_text("asks another administrator to look at version")).to_be_visible()
    expect(page.get_by_role("button", name="Publish version")).to_have_count(0)


def _saves(jonas: Visitor, tries: str) -> Page:
    page = jonas.go(TOOL)
    page.get_by_label("Tries", exact=True).fill(tries)
    page.get_by_role("button", name="Save and review").click()
    expect(page.get_by_role("heading", name="1 change")).to_be_visible()
    return page


def _sends_back(vera: Visitor) -> None:
    page = vera.go(f"{TOOL}changes/")
    expect(page.get_by_text(NOTE)).to_be_visible()
    _looked_at(vera, "tool-review-to-answer")
    page.get_by_label("What is to be mended").fill(REASON)
    page.get_by_role("button", name="Send it back").click()
    expect(page.get_by_text("It is sent back, with your words.")).to_be_visible()


def _reads_why(jonas: Visitor) -> None:
    page = jonas.go(f"{TOOL}changes/")
    expect(page.get_by_text("Vera Holm sent it back:")).to_be_visible()
    expect(page.get_by_text(REASON)).to_be_visible()
    _looked_at(jonas, "tool-review-sent-back")


def _a_change_voids_it(jonas: Visitor, vera: Visitor) -> None:
    """What the other one has open was changed under their hands: nothing of it comes into force."""
    old = vera.go(f"{TOOL}changes/")
    expect(old.get_by_role("button", name="Publish version")).to_be_visible()
    _saves(jonas, "5")
    old.get_by_role("button", name="Publish version").click()
    expect(old.get_by_text("Nothing was published; look at it again.")).to_be_visible()
    expect(old.get_by_role("button", name="Publish version")).to_have_count(0)


def _two_switch_it_off(jonas: Visitor, vera: Visitor) -> None:
    """Whoever asks cannot agree."""
    page = jonas.go("/tools/two-people/")
    page.get_by_role("button", name="Ask to switch it off").click()
    expect(page.get_by_text("asks to switch it off")).to_be_visible()
    expect(page.get_by_role("button", name="Agree: switch it off")).to_have_count(0)
    page = vera.go("/tools/two-people/")
    _looked_at(vera, "two-people-off-asked")
    page.get_by_role("button", name="Agree: switch it off").click()
    expect(page.get_by_text("One administrator publishes alone")).to_be_visible()


def _looked_at(visitor: Visitor, name: str) -> None:
    visitor.axe()
    visitor.fits()
    shoot(visitor, name, again=False)
