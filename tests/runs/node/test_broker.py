"""The broker only rings: it may die, come back deaf, or ring too often, and work goes on from the database."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from config.embedded.ports import free_port
from config.embedded.valkey import Valkey
from runs.engine.reclaim import reclaim
from runs.models import Step
from runs.selectors import health
from tests.runs.node import real
from tools.models import WorkerProcess

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]


class Broker:
    """A Valkey of this test alone, and a client that rings through it."""

    def __init__(self, folder: Path) -> None:
        self.valkey = Valkey(folder / "valkey", free_port(), secrets.token_urlsafe(8), folder / "valkey.log")
        self.app = Celery("bell", broker=self.valkey.url(), set_as_current=False)
        self.app.conf.broker_transport_options = {"global_keyprefix": "countersign:", "socket_timeout": 2}
        self.start()

    def start(self) -> None:
        self.server = self.valkey.start()
        self.valkey.wait(self.server)

    def stop(self) -> None:
        self.server.send_signal(signal.SIGKILL)
        self.server.wait()

    def ring(self) -> None:
        self.app.send_task("runs.wake", queue="execution", retry=False, expires=30)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path)
    yield made
    made.app.close()
    made.stop()


def test_b04_work_goes_on_while_the_way_through_the_broker_is_dead(start, who, broker, monkeypatch):
    """Guards runs/sql/movement.sql and the keeper's ``last_bell_at``: a dead broker costs latency only, and health says so."""
    monkeypatch.setattr(health, "SILENT_AFTER", 1.5)
    node = start(BROKER_URL=broker.valkey.url())
    rung = WorkerProcess.objects.filter(pk=node.worker.pk, last_bell_at__isnull=False)
    real.until(lambda: broker.ring() or rung.exists(), what="the node is rung through the broker")
    for _ in range(3):
        broker.stop()
        broker.start()
    broker.stop()
    real.until(lambda: health.movement().broker == "silent", what="health says that the broker is silent")
    runs = [real.run_of(who, steps=2) for _ in range(5)]
    real.ended(*runs, seconds=20)
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    assert {step.attempt for run in runs for step in real.calls(run)} == {1}
    assert health.movement().broker == "silent"
    assert node.process.poll() is None
    broker.start()
    # Whether the consumer comes back or stays deaf: what is submitted now is done all the same.
    last = real.run_of(who, steps=2)
    real.ended(last, seconds=20)
    assert real.status(last) == "SUCCEEDED"


def test_b01_messages_that_come_again_and_again_find_the_lease_held(start, who, broker, ledger):
    """Guards runs/node/keeper.py `renew`: the lease is held all the while, so a message that comes twice, or to three workers,
    starts nothing twice: one attempt, one effect."""
    impatient = {
        "BROKER_URL": broker.valkey.url(),
        "DJANGO_SETTINGS_MODULE": "tests.runs.node.impatient",
        "COUNTERSIGN_DRILL_LEDGER": str(ledger),
        "COUNTERSIGN_LEASE_SECONDS": "5",
    }
    three = [start(**impatient) for _ in range(3)]
    run = real.run_of(who, tool="drill.effect", arguments={"seconds": 9})
    step = real.running(run)
    while Step.everywhere.get(pk=step.pk).status == "RUNNING":
        for _ in range(6):
            broker.ring()
        # What a coordinator does every second: a lease that ran out would go to another.
        assert reclaim() == 0
        time.sleep(0.2)  # between two rounds of rings, while the step is held; nothing waits for it
    real.ended(run)
    heard = WorkerProcess.objects.filter(
        pk__in=[node.worker.pk for node in three], last_bell_at__isnull=False
    )
    assert heard.count() == 3, "every node was rung while the step was held"
    assert real.status(run) == "SUCCEEDED"
    assert [one.attempt for one in real.calls(run)] == [1]
    assert len(ledger.read_text().splitlines()) == 1
