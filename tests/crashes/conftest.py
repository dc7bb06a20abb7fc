"""One house for all drills of a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crashes.drill import Drill, environment
from tests.house.houses import house


@pytest.fixture(scope="session")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    folder: Path = tmp_path_factory.mktemp("crashes")
    arms = folder / "arms"
    with house(folder / "data", extra=environment(arms)) as started:
        started.start()
        assert started.ready, started.said()
        made = Drill(started, arms)
        yield made
        made.close()
