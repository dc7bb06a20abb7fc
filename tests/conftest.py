"""Fixtures for every room. Servers are started by `tests.plugins.servers` before this file is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from tests import needs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything below tests/browser drives a real Chromium, so it carries the marker without saying so."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """A cast of five is made for almost every test; the strength of the hash is not what they test."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(scope="session")
def chromium_path() -> str:
    return needs.chromium()


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """`shared("data/contracts")`: data beside the checkout, or a skip that says what is missing."""
    return needs.shared


@pytest.fixture(scope="session")
def broker_url() -> str:
    return os.environ["BROKER_URL"]


@pytest.fixture(scope="session", autouse=True)
def quick_emptying() -> Iterator[None]:
    """Between tests that really commit, tables are emptied. Django truncates all of them, which takes seconds on a busy
    machine and which the product forbids for histories. Here only tables with rows are emptied, with triggers at rest for
    that one statement; what migrations wrote about models and permissions stays, so nothing has to be made again."""
    from django.db.backends.postgresql.operations import DatabaseOperations

    def sql_flush(self: Any, style: Any, tables: list[str], **_: Any) -> list[str]:
        mine = [t for t in sorted(tables) if t not in ("django_content_type", "auth_permission")]
        if not mine:
            return []
        checks = " UNION ALL ".join(f"SELECT '{t}' WHERE EXISTS (SELECT 1 FROM \"{t}\")" for t in mine)
        loop = f"DO $$ DECLARE t text; BEGIN FOR t IN {checks} LOOP EXECUTE format('DELETE FROM %I', t); END LOOP; END $$"
        return [
            "SET LOCAL session_replication_role = replica",
            loop,
            "SET LOCAL session_replication_role = origin",
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield
