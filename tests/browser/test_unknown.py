"""A worker dies while its letter is under way: the page says that nobody knows, and a person settles it."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

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


def under_way(ada: Visitor, ben: Visitor, folder: Path, goal: str) -> tuple[str, str]:
    """A task that waits for the approval of its letter: the address, and the path of the task."""
    address = steps.an_address()
    lease = folder / "Halden-lease.txt"
    lease.write_bytes(papers.lease())
    task = steps.start(steps.fill_in(ada, [lease], goal, address))
    steps.waits(ada.page)
    return address, task


def open_unknown(ben: Visitor, address: str) -> Page:
    page = ben.go("/inbox/")
    page.locator("[data-row]", has_text=address).click()
    expect(page.get_by_role("heading", name="What happened?")).to_be_visible()
    return page


def test_three_unknown_outcomes_are_settled_each_in_another_way(
    visit: Callable[..., Visitor], place: Place, tmp_path: Path
) -> None:
    ada, ben = visit(ADA), visit(BEN)
    goals = ("Lost, and nobody knows", "Lost, but it arrived", "Lost, and it never left")
    stories = [under_way(ada, ben, tmp_path, f"Review the lease: {goal}") for goal in goals]
    with a_silent_server(place):
        for address, task in stories:
            steps.approve(steps.open_action(ben, address), address)
            expect(ada.go(task).locator("#history")).to_contain_text("Being sent")
        os.kill(pid_of(place, "node"), signal.SIGKILL)
    (nobody, its_task), (arrived, second), (never, third) = stories
    for _address, task in stories:
        expect(ada.go(task).locator("main .head")).to_contain_text("Unknown outcome", timeout=RECOVERY)
    ada.axe()
    ada.fits()
    shoot(ada, "task-unknown")
    before = len(place.arrived(never))

    page = open_unknown(ben, nobody)
    page.get_by_label("It happened").check()
    expect(page.get_by_label("How do you know?")).to_be_visible()
    page.get_by_label("Nobody can know").check()
    ben.axe()
    ben.fits()
    shoot(ben, "unknown", again=False)
    page.get_by_label("How do you know?").fill("Their mailbox was closed that day, nobody can look.")
    page.get_by_role("button", name="Record: nobody can know").click()
    expect(page.get_by_role("status").filter(has_text="nobody can know")).to_be_visible()
    expect(ada.go(its_task).locator("main .head").get_by_text("Done", exact=True)).to_be_visible(
        timeout=RECOVERY
    )

    page = open_unknown(ben, arrived)
    page.get_by_label("It happened").check()
    page.get_by_label(re.compile("^Reference|Message-ID")).first.fill("<4KxR2p@halden-leasing.example>")
    page.get_by_label("How do you know?").fill("Seen in their mailbox, with a picture of it.")
    picture = tmp_path / "mailbox.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    page.get_by_label("File as evidence").set_input_files(picture)
    page.get_by_role("button", name="Record: it happened").click()
    expect(page.get_by_role("status").filter(has_text="it happened")).to_be_visible()
    expect(ada.go(second).locator("main .head").get_by_text("Done", exact=True)).to_be_visible(
        timeout=RECOVERY
    )

    page = open_unknown(ben, never)
    nothing_more = page.get_by_text("the step can go on at once")
    for _ in range(90):
        if nothing_more.count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    expect(nothing_more).to_be_visible()
    page.get_by_label("It did not happen").check()
    page.get_by_label("How do you know?").fill("Their server never saw it.")
    page.get_by_role("button", name="Record: it did not happen").click()
    expect(page.get_by_role("status").filter(has_text="it did not happen")).to_be_visible()
    expect(ada.go(third).locator("main .head").get_by_text("Done", exact=True)).to_be_visible(
        timeout=RECOVERY
    )
    assert len(place.arrived(never)) == before + 1, "it goes on under the same key, and leaves"
    assert len(place.arrived(nobody)) == len(place.arrived(arrived)) == 0, "what is settled is not sent again"
