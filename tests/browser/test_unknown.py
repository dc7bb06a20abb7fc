"""A worker dies while its letter is under way: the page says that nobody knows, and a person settles it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import papers, steps
from tests.browser.camera import shoot
from tests.browser.place import ADA, BEN, Place
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.crash, pytest.mark.timeout(600)]
RECOVERY = 150_000


def pid_of(place: Place, name: str) -> int:
    rows = json.loads((place.folder / "processes.json").read_text())["children"]
    return int(next(row["pid"] for row in rows if row["name"] == name))


@contextmanager
def a_silent_server(place: Place) -> Iterator[None]:
    """The mail server takes the connection and says nothing."""
    sink = pid_of(place, "sink")
    os.kill(sink, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(sink, signal.SIGCONT)


def test_an_unknown_outcome_is_settled_by_a_person(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben = visit(ADA), visit(BEN)
    address = steps.an_address()
    lease = tmp_path / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    steps.start(steps.fill_in(ada, [lease], "Review the lease while a worker dies", address))
    steps.waits(ada.page)
    page = steps.open_action(ben, address)
    with a_silent_server(place):
        steps.approve(page, address)
        expect(ada.page.locator("#history")).to_contain_text("Being sent")
        os.kill(pid_of(place, "node"), signal.SIGKILL)
    expect(ada.page.locator("main .head")).to_contain_text("Unknown outcome", timeout=RECOVERY)
    ada.axe()
    ada.fits()
    shoot(ada, "task-unknown")
    page = ben.go("/inbox/")
    page.locator("[data-row]", has_text=address).click()
    expect(page.get_by_role("heading", name="What happened?")).to_be_visible()
    page.get_by_label("It happened").check()
    expect(page.get_by_label("How do you know?")).to_be_visible()
    page.get_by_label("Nobody can know").check()
    ben.axe()
    ben.fits()
    shoot(ben, "unknown", again=False)
    page.get_by_label("How do you know?").fill("Their mailbox was closed that day, nobody can look.")
    page.get_by_role("button", name="Record: nobody can know").click()
    expect(page.get_by_role("status").first).to_be_visible()
    expect(ada.page.locator("main .head").get_by_text("Done", exact=True)).to_be_visible(timeout=RECOVERY)
    expect(ada.page.locator("main")).to_contain_text("Nobody can know")
    assert len(place.arrived(address)) <= 1
    ada.axe()
    ada.fits()
    shoot(ada, "task-settled")
