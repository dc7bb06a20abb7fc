"""One builder for each adapter: an effectful call against its far side. A new adapter adds its own here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.adapters.calls import Call
from tests.adapters.far_mcp import OverHttp, OverPipes
from tests.adapters.far_sides import Ledger, MailServer
from tests.adapters.far_web import WebServer

Builder = Callable[[pytest.FixtureRequest], Call]


def smtp(request: pytest.FixtureRequest) -> Call:
    server: MailServer = request.getfixturevalue("mail_server")
    letter = {"to": "ann@aldergate.example", "subject": "Notice", "text": "Dear Ann,\n.\nBye"}
    return Call("smtp", server, {"egress": []}, letter, lambda: len(server.taken))


def http(request: pytest.FixtureRequest) -> Call:
    shop: WebServer = request.getfixturevalue("web_server")
    order: dict[str, Any] = {"target": f"http://127.0.0.1:{shop.port}/orders", "effect": "irreversible"}
    order |= {"config": {"reference": "/id"}, "egress": [f"127.0.0.1:{shop.port}"]}
    return Call("http", shop, order, {"item": "lens"}, lambda: len(shop.effects))


def python(request: pytest.FixtureRequest) -> Call:
    book: Ledger = request.getfixturevalue("ledger")
    spec = {"target": "suite.note", "effect": "irreversible"}
    return Call("python", book, spec, {"port": book.port}, lambda: len(book.lines))


def mcp_http(request: pytest.FixtureRequest) -> Call:
    book: OverHttp = request.getfixturevalue("mcp_over_http")
    spec = {"target": book.url, "config": book.config, "egress": book.hosts, "effect": "irreversible"}
    return Call("mcp", book, spec, {"text": "lens"}, lambda: len(book.lines))


def mcp_pipes(request: pytest.FixtureRequest) -> Call:
    book: OverPipes = request.getfixturevalue("mcp_over_pipes")
    spec = {"config": book.config, "effect": "irreversible"}
    return Call("mcp", book, spec, {"text": "lens"}, lambda: len(book.lines), limit=8.0)


BUILDERS: dict[str, Builder] = {
    "mcp_http": mcp_http,
    "mcp_pipes": mcp_pipes,
    "smtp": smtp,
    "python": python,
    "http": http,
}
