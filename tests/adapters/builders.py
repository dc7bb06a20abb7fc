"""One builder for each adapter: a call against its far side. A new adapter adds its own here, and a row in ``cells``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.adapters.calls import Call
from tests.adapters.far_mcp import OverHttp, OverPipes
from tests.adapters.far_model import ModelServer
from tests.adapters.far_sides import Ledger, MailServer
from tests.adapters.far_sql import MARK, Proxy
from tests.adapters.far_web import WebServer

QUESTION = MARK.decode()
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


def sql(request: pytest.FixtureRequest) -> Call:
    far: Proxy = request.getfixturevalue("database")
    config = {"statement": f"SELECT total FROM orders WHERE id = %(id)s {QUESTION}", "auth": {"secret": "db"}}
    spec = {"config": config, "secrets": {"db": far.database.address(far.port)}, "effect": "read_only"}
    spec |= {"egress": [f"127.0.0.1:{far.port}"]}
    return Call("sql", far, spec, {"id": 1}, lambda: far.asked)


def model(request: pytest.FixtureRequest) -> Call:
    far: ModelServer = request.getfixturevalue("model_server")
    spec: dict[str, Any] = {
        "target": f"http://127.0.0.1:{far.port}/v1",
        "effect": "read_only",
        "attempt_tokens": 500,
    }
    spec |= {"config": {"model": "small", "max_tokens": 50}, "egress": [f"127.0.0.1:{far.port}"]}
    return Call("model", far, spec, {"prompt": "How many?"}, lambda: len(far.requests))


#: Those of effects; each call is one more of them.
BUILDERS: dict[str, Builder] = {
    "mcp_http": mcp_http,
    "mcp_pipes": mcp_pipes,
    "smtp": smtp,
    "python": python,
    "http": http,
}
#: Those that only read; ``count`` says how often the question was on the wire.
READERS: dict[str, Builder] = {"sql": sql, "model": model}
ALL = {**BUILDERS, **READERS}
