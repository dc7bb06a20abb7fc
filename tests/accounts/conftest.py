"""Fixtures of this room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts import limits, statements
from tests.races.waiting import wait_until_blocked


@pytest.fixture
def blocked() -> Callable[[], int]:
    """`blocked()` waits until the database says that another session waits for a lock; gives how many do."""
    return wait_until_blocked


@pytest.fixture
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limiter's clock stands at noon, so that no test runs over the edge of a window."""
    real = statements.run
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def at_noon(room: str, name: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return real(room, name, {**parameters, "now": parameters["now"] or noon})

    monkeypatch.setattr(limits, "run", at_noon)
