from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.builders import BUILDERS
from tests.adapters.calls import Call
from tests.adapters.far_mcp import OverHttp, OverPipes
from tests.adapters.far_model import ModelServer
from tests.adapters.far_sides import Ledger, MailServer
from tests.adapters.far_sql import Database, Proxy
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


@pytest.fixture
def mcp_over_http(tmp_path: Path) -> Iterator[OverHttp]:
    server = OverHttp(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def mcp_over_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OverPipes:
    return OverPipes(tmp_path, monkeypatch)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def far_database() -> Iterator[Database]:
    database = Database()
    yield database
    database.drop()


@pytest.fixture
def database(far_database: Database) -> Iterator[Proxy]:
    proxy = Proxy(far_database)
    yield proxy
    proxy.stop()


@pytest.fixture(params=sorted(BUILDERS))
def call(request: pytest.FixtureRequest) -> Call:
    """A call of each adapter, against its far side."""
    return BUILDERS[request.param](request)
