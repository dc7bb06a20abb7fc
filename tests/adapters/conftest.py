from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.calls import Call
from tests.adapters.far_sides import Ledger, MailServer
from tests.adapters.far_web import WebServer


@pytest.fixture
def mail_server(monkeypatch) -> Iterator[MailServer]:
    server = MailServer()
    monkeypatch.setenv("EMAIL_URL", server.url)
    yield server
    server.stop()


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    server = Ledger()
    yield server
    server.stop()


@pytest.fixture
def web_server() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.stop()


@pytest.fixture(params=["smtp", "python", "http"])
def call(request) -> Call:
    """A call of each adapter, against its far side."""
    if request.param == "smtp":
        server: MailServer = request.getfixturevalue("mail_server")
        letter = {"to": "ann@aldergate.example", "subject": "Notice", "text": "Dear Ann,\n.\nBye"}
        return Call("smtp", server, {"egress": []}, letter, lambda: len(server.taken))
    if request.param == "http":
        shop: WebServer = request.getfixturevalue("web_server")
        order: dict[str, Any] = {"target": f"http://127.0.0.1:{shop.port}/orders", "effect": "irreversible"}
        order |= {"config": {"reference": "/id"}, "egress": [f"127.0.0.1:{shop.port}"]}
        return Call("http", shop, order, {"item": "lens"}, lambda: len(shop.effects))
    book: Ledger = request.getfixturevalue("ledger")
    spec = {"target": "suite.note", "effect": "irreversible"}
    return Call("python", book, spec, {"port": book.port}, lambda: len(book.lines))
