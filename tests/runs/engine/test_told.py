"""A run and what is to be told about it are one commit: late, or with the broker gone, nothing is lost or told too early."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest
from celery import Celery
from django.db import connections

from accounts.models import Role
from outbox import routes
from outbox.consumers import bells
from outbox.models import Message
from outbox.relay import drain
from outbox.routes import Consumer, Delivery, declare
from runs.engine import submit as submitting
from runs.models import Run
from tests.runs.engine import hands
from tests.tools import make
from tools import samples

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def who() -> Any:
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER, name="Ada")
    samples.seed(tenant)
    Message.objects.all().delete()
    return tenant, user


@pytest.fixture
def told() -> Iterator[list[UUID]]:
    """The runs whose first step was announced; each is looked up when it is told."""
    heard: list[UUID] = []

    def listen(deliveries: Sequence[Delivery]) -> Mapping[UUID, Exception]:
        ids = [UUID(str(delivery.payload["run_id"])) for delivery in deliveries]
        heard.extend(Run.everywhere.get(pk=run_id).pk for run_id in ids)
        return {}

    before, lanes = dict(routes._table.consumers), dict(routes._table.lanes)
    for topic in before:
        declare(topic, [])
    declare("step.ready", [Consumer("ear", listen)])
    yield heard
    routes._table.consumers.clear()
    routes._table.consumers.update(before)
    routes._table.lanes = lanes


def test_b12_what_commits_late_is_told_after_its_commit(who, told, monkeypatch):
    """Guards runs/engine/submit.py `_create`: the messages are rows of the same transaction. Told before the commit, the
    run would not be there; told outside the transaction, a crash would lose it."""
    waiting, go = threading.Event(), threading.Event()
    inside: list[str] = []

    def slow(name: str) -> None:
        if name == "run.created.before_commit":
            inside.extend(Message.objects.order_by("id").values_list("topic", flat=True))
            waiting.set()
            assert go.wait(30)

    monkeypatch.setattr(submitting, "fp", slow)

    def submit() -> None:
        try:
            hands.counter_run(who[0], who[1])
        finally:
            connections.close_all()

    thread = threading.Thread(target=submit)
    thread.start()
    try:
        assert waiting.wait(30)
        assert inside == ["run.submitted", "step.ready"]
        assert drain(limit=10) == 0
        assert (told, Message.objects.count(), Run.everywhere.count()) == ([], 0, 0)
    finally:
        go.set()
        thread.join()
    assert drain(limit=10) == 2
    assert told == [Run.everywhere.get().pk]


def test_b12_what_is_rolled_back_is_never_told(who, told, monkeypatch):
    """Guards the same: run and messages go together, so nobody hears of a run that is not there."""

    class Died(Exception):
        pass

    def die(name: str) -> None:
        raise Died

    monkeypatch.setattr(submitting, "fp", die)
    with pytest.raises(Died):
        hands.counter_run(who[0], who[1])
    assert (drain(limit=10), told, Message.objects.count()) == (0, [], 0)


def test_b12_a_broker_that_is_gone_at_the_commit_loses_no_run(who, told):
    """Guards runs/engine/submit.py and outbox/consumers/bells.py: the commit asks no broker, the message waits for it, and
    a poll claims the run meanwhile."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    gone = Celery("gone", broker=f"redis://127.0.0.1:{port}/0", set_as_current=False)
    ear = routes.route("step.ready")
    declare("step.ready", [bells.bell("runs.wake", gone.send_task)])
    run = hands.counter_run(who[0], who[1], steps=1)
    drain(limit=10)
    row = Message.objects.get(topic="step.ready")
    assert (row.published_at, row.dead_at, row.attempts) == (None, None, 0)
    hands.run_all(hands.worker())
    assert Run.everywhere.get(pk=run.pk).status == "SUCCEEDED"
    declare("step.ready", ear)
    Message.objects.filter(pk=row.pk).update(next_attempt_at=row.created_at)
    drain(limit=10)
    assert run.pk in told
    assert Message.objects.get(pk=row.pk).published_at is not None
    gone.close()
