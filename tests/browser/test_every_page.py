"""Each page that needs no task: it opens, fits on a phone, and axe finds nothing, in both themes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, JONAS, OTTO
from tests.browser.visitor import Visitor

# The first test of a session waits for its house to come up.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PAGES = [
    ("", "sign-in", "/sign-in/"),
    ("", "reset-password", "/sign-in/reset/"),
    (ADA, "tasks", "/tasks/"),
    (OTTO, "tasks-empty", "/tasks/"),
    (ADA, "new-task-sample", "/tasks/new/?sample=three"),
    (OTTO, "inbox-empty", "/inbox/"),
    (BEN, "inbox-decided", "/inbox/?tab=decided"),
    (JONAS, "people", "/people/"),
    (JONAS, "invite", "/people/invite/"),
    (JONAS, "tools", "/tools/"),
    (JONAS, "tool", "/tools/mail.send/"),
    (JONAS, "tool-history", "/tools/mail.send/history/"),
    (JONAS, "tool-new", "/tools/new/"),
    (JONAS, "tools-import", "/tools/import/"),
    (JONAS, "tools-import-mcp", "/mcp/import/"),
    (ADA, "new-task-steps", "/tasks/new/?agent=steps"),
    (JONAS, "tool-pause", "/tools/mail.send/pause/"),
    (JONAS, "secrets", "/tools/secrets/"),
    (JONAS, "tools-two-people", "/tools/two-people/"),
    (JONAS, "duplicates", "/tasks/duplicates/"),
    (JONAS, "audit", "/audit/"),
    (JONAS, "audit-nothing", "/audit/?act=nothing.like.that"),
    (JONAS, "webhooks", "/settings/webhooks/"),
    (JONAS, "webhook-new", "/settings/webhooks/new/"),
    (JONAS, "dead-letters", "/settings/dead-letters/"),
    (JONAS, "notifications", "/settings/notifications/"),
    (JONAS, "notifications-everybody", "/settings/notifications/everybody/"),
    (JONAS, "notes", "/notes/"),
    (JONAS, "notes-to-people", "/settings/notes/?shown=all"),
    (JONAS, "groups", "/people/groups/"),
    (JONAS, "away", "/settings/away/"),
    (JONAS, "profile", "/settings/profile/"),
    (JONAS, "tokens", "/settings/tokens/"),
    (JONAS, "password", "/sign-in/password/"),
    (JONAS, "second-factor", "/sign-in/factor/"),
]


@pytest.mark.parametrize(("who", "name", "path"), PAGES, ids=[name for _, name, _ in PAGES])
def test_the_page_fits_and_axe_finds_nothing(
    visit: Callable[..., Visitor], who: str, name: str, path: str
) -> None:
    visitor = visit(who)
    page = visitor.go(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    visitor.axe()
    visitor.fits()
    shoot(visitor, name)


def test_a_missing_page_says_what_to_do(visit: Callable[..., Visitor]) -> None:
    ada = visit(ADA)
    page = ada.go("/tasks/run_00000000000000000000000000000000/", status=404)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    ada.axe()
    ada.fits()
    shoot(ada, "not-found", again=False)


def test_pages_need_a_sign_in_and_lead_back(visit: Callable[..., Visitor]) -> None:
    nobody = visit()
    page = nobody.go("/settings/tokens/")
    assert "/sign-in/?next=" in page.url
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_wrong_password_says_so_without_saying_who(visit: Callable[..., Visitor]) -> None:
    nobody = visit()
    page = nobody.go("/sign-in/")
    page.get_by_label("E-mail").fill("nobody@linden.example")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    nobody.axe()
