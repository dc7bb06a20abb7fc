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


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Tests empty the tables between them, which the product forbids for histories: only here the guard against
    TRUNCATE rests. The guards against UPDATE and DELETE stay."""
    from django.db import connection

    guarded = {
        "accounts_auditentry": "audit_no_truncate",
        "approvals_decision": "decision_no_truncate",
        "runs_event": "event_no_truncate",
    }
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table, trigger in guarded.items():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
