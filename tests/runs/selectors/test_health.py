"""Health is ready work and last claim, by the clock of the database (B05)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

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


def test_b05_a_process_that_breathes_and_takes_nothing(client):
    """Guards runs/selectors/health.py `stalled`: the worker is seen every second and has claimed before; what counts is
    that ready work has been waiting."""
    linden = house()
    linden.counted()
    hands.take(linden.me)
    linden.counted()
    type(linden.me).objects.update(last_seen_at=Now(), last_claim_at=Now() - timedelta(minutes=2))
    Step.everywhere.filter(status="PENDING").update(not_before=Now() - timedelta(minutes=2))
    body = client.get("/healthz").json()
    assert (body["status"], body["work"]) == ("ok", "stalled")
    assert body["oldest_ready_seconds"] >= 120
    assert body["last_claim_seconds"] >= 120


def test_b04_a_broker_that_no_node_hears_is_silent_although_work_moves(client):
    """Guards runs/selectors/health.py `broker`: not whether the broker answers, but whether a node heard it."""
    assert movement().broker == "unknown"
    linden = house()
    mine = type(linden.me).objects.filter(pk=linden.me.pk)
    assert movement().broker == "heard", "a node that just started has not been rung yet"
    mine.update(started_at=Now() - timedelta(minutes=5))
    assert movement().broker == "silent"
    mine.update(last_bell_at=Now() - timedelta(seconds=2))
    assert movement().broker == "heard"
    mine.update(last_bell_at=Now() - timedelta(minutes=1), last_claim_at=Now())
    body = client.get("/healthz").json()
    assert (body["status"], body["work"], body["broker"]) == ("ok", "moving", "silent")
    assert body["last_bell_seconds"] >= 60
    mine.update(last_seen_at=Now() - timedelta(minutes=5))
    assert movement().broker == "unknown", "no node is there to hear it"


def test_b05_a_task_that_a_person_holds_is_no_stall():
    """Guards runs/sql/movement.sql: its steps are not ready, and nobody would take them."""
    linden = house()
    run = linden.counted()
    Step.everywhere.update(not_before=Now() - timedelta(minutes=2))
    assert movement().stalled
    type(run).everywhere.filter(pk=run.pk).update(takeover=run.pk)
    assert movement().oldest_ready is None
