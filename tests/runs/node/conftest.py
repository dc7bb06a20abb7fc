"""Fixtures of the node's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Tenant, User
from tests.runs.node import real


@pytest.fixture
def start(transactional_db: None, tmp_path: Path) -> Iterator[Callable[..., real.Node]]:
    """Starts nodes that are gone before the tables are emptied."""
    with real.nodes(tmp_path) as starter:
        yield starter


@pytest.fixture
def who(transactional_db: None) -> tuple[Tenant, User]:
    return real.house()


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """``drill.gate`` waits until this file is touched."""
    return tmp_path / "gate"


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """The file in which drill effects are counted, and its environment."""
    path = tmp_path / "ledger"
    path.touch()
    return path
