"""Fair share on a real node: a crowd of one tenant, and a single run of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runs.models import Step
from tests.make import queues
from tests.runs.node import real

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]


@pytest.fixture
def start(transactional_db: None, tmp_path: Path) -> Iterator[Callable[..., real.Node]]:
    with real.nodes(tmp_path) as starter:
        yield starter


@pytest.mark.parametrize("tool", ["drill.noop", "drill.sleep"])
def test_l18_a_single_run_starts_within_a_second_beside_ten_thousand(start, tool):
    """Guards `claim_steps.sql`, `runs.engine.fairness` and the places that a node keeps for others (L18): whether the crowd
    is quick or sleeps in every place. Asserted at five times the promise."""
    many, few = queues.member(), queues.member()
    given = {"tool": tool, "arguments": {"seconds": 600} if tool == "drill.sleep" else {}}
    queues.crowd(many, 10_000, steps=20, **given)
    start()
    busy = Step.everywhere.filter(tenant=many[0], kind="call")
    enough = 400 if tool == "drill.sleep" else 1000
    real.until(
        lambda: busy.filter(attempt__gt=0).count() >= enough, seconds=60, what="the crowd is under way"
    )
    run = real.run_of(few, tool="drill.noop")
    first = Step.everywhere.filter(run=run, kind="call", started_at__isnull=False)
    step = real.until(first.first, seconds=30, what="the single run starts")
    assert (step.started_at - run.created_at).total_seconds() < 5
    assert Step.everywhere.filter(tenant=many[0], status="PENDING").count() > 1000, "the crowd still waits"
