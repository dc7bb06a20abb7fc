"""Fixtures for every room. Servers are started by `tests.plugins.servers` before this file is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import needs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything below tests/browser drives a real Chromium, so it carries the marker without saying so."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)


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
