"""Health is ready work and last claim, by the clock of the database (B05)."""

from __future__ import annotations

import pytest

from runs.models import Step
from runs.selectors.health import movement
from tests.make.runs import house
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db(transaction=True)


def test_ready_work_that_nobody_takes_is_a_stall(client):
    linden = house()
    assert movement().oldest_ready is None
    linden.counted()
    assert not movement().stalled
    Step.everywhere.update(not_before="2020-01-01T00:00:00Z")
    assert movement().stalled
    body = client.get("/healthz").json()
    assert (body["status"], body["work"]) == ("ok", "stalled")
    hands.take(linden.me)
    assert movement().oldest_ready is None
    assert client.get("/healthz").json()["work"] == "moving"
