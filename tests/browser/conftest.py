"""One house for all browser tests, one Chromium for each module, visitors who are signed in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.books import Books
from tests.browser.place import Place
from tests.browser.visitor import Visitor
from tests.house.houses import house
from tools.mcp.servers import SETTING

FLAGS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
]


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Addresses of a house that is up, with its sample people and a server of its deployment. One that is up already
    (``BROWSER_DATA_DIR``) was started with the setting of ``Books`` in the folder beside its own."""
    named = os.environ.get("BROWSER_DATA_DIR")
    if named:
        folder = Path(named)
        servers, ports = (json.loads((folder / name).read_text()) for name in ("servers.json", "ports.json"))
        books = Books.make(folder.parent / "books")
        yield Place(f"http://127.0.0.1:{servers['PORT']}", f"http://127.0.0.1:{ports['sink']}", folder, books)
        return
    base = tmp_path_factory.mktemp("browser")
    books = Books.make(base / "books")
    # A person signs in one time a session, which may last longer than a proof of who they are.
    extra = {SETTING: books.setting, "COUNTERSIGN_STEP_UP_SECONDS": "86400"}
    with house(base / "data", extra=extra) as made:
        made.start()
        assert made.ready is not None, made.said()
        yield Place(made.ready["url"], made.ready["sink"], made.folder, books)


@pytest.fixture(scope="module")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """Of the module, not of the session: its event loop must be gone before tests that use the database."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def passes() -> dict[str, Any]:
    """Who is signed in already; a person signs in one time a session."""
    return {}


@pytest.fixture
def visit(chromium: Browser, place: Place, passes: dict[str, Any]) -> Iterator[Callable[..., Visitor]]:
    """`visit(ADA)` gives a signed-in visitor, `visit()` somebody unknown. At the end nobody's browser complained."""
    with ExitStack() as stack:
        visitors: list[Visitor] = []

        def arrive(email: str = "", **options: Any) -> Visitor:
            visitor = Visitor(chromium, place, email, passes, **options)
            stack.callback(visitor.leave)
            visitors.append(visitor)
            if email and email not in passes:
                visitor.sign_in()
            return visitor

        yield arrive
        complaints = [complaint for visitor in visitors for complaint in visitor.complaints]
        assert complaints == []
