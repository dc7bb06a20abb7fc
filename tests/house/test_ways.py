"""Every page has a way in: from the rail, the tools or the settings, a person comes to each; and the rail says where they are."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest
from django.test import Client
from django.urls import NoReverseMatch, resolve, reverse

from config.ui.places import SETTINGS, TASKS, TOOLS, place
from tests.house.routes import ADMINISTRATOR, MEMBER, ROUTES, SUBMITTER
from tests.make import people
from tests.make import runs as make

pytestmark = pytest.mark.django_db(transaction=True)
#: Not pages: what a form or a script asks for, what only follows a form, a language, the tags of a page for its makers.
NO_PAGE = {
    *(
        "styleguide",
        "account_reauthenticate",
        "mfa_authenticate",
        "mfa_reauthenticate",
        "mfa_deactivate_totp",
    ),
    *("mfa_view_recovery_codes", "mfa_generate_recovery_codes", "mfa_download_recovery_codes"),
    *("runs:upload", "runs:plan_preview", "runs:cancel_several", "runs:lift_everything"),
    *("approvals:batch", "approvals:decide_many", "notes:read_all", "accounts:escalation"),
    *("outbox:chat", "outbox:chat_of_tenant", "quality:export"),
    *("accounts:audit_jsonl", "accounts:audit_csv", "runs:export", "tools:delete_secret"),
}
DEPTH = 4


def _pages() -> set[str]:
    """Addresses of pages that need no id."""
    found = set()
    for name, role in ROUTES.items():
        if role not in (MEMBER, SUBMITTER, ADMINISTRATOR) or name in NO_PAGE:
            continue
        try:
            found.add(reverse(name))
        except NoReverseMatch:
            continue
    return found


def _reached(client: Client, start: str) -> set[str]:
    """Every address that somebody comes to by following links, a few deep."""
    seen, edge = {start}, {start}
    for _ in range(DEPTH):
        found = set()
        for address in edge:
            answer = client.get(address)
            if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
                found |= set(_links(address, answer.content.decode()))
        edge = found - seen
        seen |= edge
    return seen


def _links(address: str, html: str) -> list[str]:
    links = [
        urljoin(address, href).partition("#")[0] for href in re.findall(r'<a\b[^>]*\bhref="([^"]*)"', html)
    ]
    return [link.partition("?")[0] for link in links if link.startswith("/")]


def test_an_administrator_comes_to_every_page_by_links() -> None:
    house = make.house()
    reached = _reached(people.browser(house.jonas), reverse("runs:task_list"))
    assert sorted(_pages() - reached) == [], sorted(_pages() - reached)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("runs:task_list", TASKS),
        ("runs:stops", TOOLS),
        ("runs:stop_everything", TOOLS),
        ("runs:duplicates", TOOLS),
        ("runs:import_mcp", TOOLS),
        ("tools:two_people", TOOLS),
        ("outbox:webhooks", SETTINGS),
        ("outbox:dead_letters", SETTINGS),
        ("accounts:audit", SETTINGS),
        ("mfa_index", SETTINGS),
        ("account_change_password", SETTINGS),
    ],
)
def test_the_rail_marks_the_entry_that_leads_to_the_page(name: str, entry: str) -> None:
    jonas = people.browser(make.house().jonas)
    html = jonas.get(reverse(name)).content.decode()
    rail = html[html.index('<nav class="rail"') : html.index("</nav>")]
    (marked,) = re.findall(r'<a href="([^"]*)"[^>]*aria-current="page"', rail)
    assert marked == {TASKS: "/tasks/", TOOLS: "/tools/", SETTINGS: "/people/"}[entry]


def test_no_page_of_a_member_is_without_an_entry() -> None:
    nowhere = [page for page in _pages() if not place(resolve(page), may_administer=True)]
    assert nowhere == []
    assert place(resolve(reverse("runs:duplicates")), may_administer=False) == TASKS
