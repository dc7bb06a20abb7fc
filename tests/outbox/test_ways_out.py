"""The ways out against real servers: Celery over Valkey, channel groups, and what happens when they are gone."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from celery import Celery
from channels.layers import channel_layers, get_channel_layer

from accounts.ids import new_id
from outbox import routes
from outbox.append import append
from outbox.consumers import bells, hints
from outbox.models import Message
from outbox.relay import drain, relay
from outbox.routes import Delivery, declare
from tests.make import people as make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("table")]


@pytest.fixture
def app(broker_url: str) -> Iterator[Celery]:
    prefix = f"test-{new_id().hex[-8:]}:"
    made = Celery("ways-out", broker=broker_url, set_as_current=False)
    made.conf.update(
        broker_transport_options={"global_keyprefix": prefix},
        task_ignore_result=True,
        task_routes={"runs.wake": {"queue": "execution"}},
        task_default_queue="coordination",
    )
    yield made
    made.close()


def rung(app: Celery, queue: str) -> list[dict[str, Any]]:
    """What lies in a queue, taken out."""
    found = []
    with (
        app.connection_for_read() as connection,
        connection.SimpleQueue(queue) as box,
        contextlib.suppress(box.Empty),
    ):
        while True:
            found.append(box.get(block=False).payload[1])
    return found


def test_wake_ups_of_one_pass_are_one_ring(app: Celery) -> None:
    declare("step.ready", [bells.bell("runs.wake", app.send_task)])
    for n in range(30):
        append(topic="step.ready", payload={"run_id": "a", "step_id": str(n), "attempt": 1})
    assert relay(limit=100) == 30
    assert rung(app, "execution") == [{"run_id": "a", "step_id": "29", "attempt": 1}]
    assert rung(app, "coordination") == []


def dead_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_dead_broker_leaves_the_bell_and_lets_the_rest_through() -> None:
    """B12 at the broker: what was committed is told when the broker is back, and nothing else waits for it."""
    gone = Celery("gone", broker=f"redis://127.0.0.1:{dead_port()}/0", set_as_current=False)
    heard: list[Delivery] = []
    declare("step.ready", [bells.bell("runs.wake", gone.send_task)])

    def listen(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
        heard.extend(deliveries)
        return {}

    declare("thing", [routes.Consumer("ear", listen)])
    append(topic="step.ready", payload={"run_id": "a"})
    append(topic="thing")
    assert drain(limit=100) == 1
    assert len(heard) == 1
    row = Message.objects.get(topic="step.ready")
    assert (row.published_at, row.dead_at, row.attempts) == (None, None, 0)
    assert "broker" in row.last_error
    gone.close()


def test_a_broker_that_says_nothing_does_not_hang_the_relay() -> None:
    """Guards CELERY_BROKER_TRANSPORT_OPTIONS in config/settings.py: its time-outs."""
    from django.conf import settings

    silent = socket.create_server(("127.0.0.1", 0))
    options = {
        **settings.CELERY_BROKER_TRANSPORT_OPTIONS,
        "socket_timeout": 0.3,
        "socket_connect_timeout": 0.3,
    }
    assert {"socket_timeout", "socket_connect_timeout"} <= set(settings.CELERY_BROKER_TRANSPORT_OPTIONS)
    stuck = Celery("stuck", broker=f"redis://127.0.0.1:{silent.getsockname()[1]}/0", set_as_current=False)
    stuck.conf.broker_transport_options = options
    declare("step.ready", [bells.bell("runs.wake", stuck.send_task)])
    append(topic="step.ready", payload={"run_id": "a"})
    assert relay(limit=10) == 0
    assert Message.objects.get().published_at is None
    stuck.close()
    silent.close()


def in_a_duty(batch: list[Delivery]) -> Any:
    """As a thread of the coordinator does: tell, and at its end let go."""
    try:
        return hints.run_hints(batch)
    finally:
        hints.close()


def told(groups: list[str], act: Any) -> list[dict[str, Any]]:
    """What arrives in these groups while ``act`` runs in a thread, as the relay would."""

    async def listen() -> list[dict[str, Any]]:
        layer = get_channel_layer()
        assert layer is not None
        channel = await layer.new_channel()
        for group in groups:
            await layer.group_add(group, channel)
        thread = threading.Thread(target=act)
        thread.start()
        await asyncio.get_running_loop().run_in_executor(None, thread.join)
        found = [await asyncio.wait_for(layer.receive(channel), 10) for _ in groups]
        await layer.flush()
        return found

    return async_to_sync(listen)()


def deliver(topic: str, tenant: Any, payload: dict[str, Any]) -> Delivery:
    return Delivery(new_id(), topic, "", tenant.pk, payload, 1)


def test_open_pages_hear_the_newest_number_once() -> None:
    tenant, run = make.tenant(), new_id().hex
    batch = [deliver("run.progress", tenant, {"run_id": run, "seq": n}) for n in (3, 7, 5)]
    outcome: list[Any] = []
    heard = told([f"run.{run}", f"tenant.{tenant.pk.hex}"], lambda: outcome.append(in_a_duty(batch)))
    assert outcome == [{}]
    assert {"type": "run.progress", "run": run, "seq": 7} in heard
    assert {"type": "tenant.progress", "runs": [[run, 7]]} in heard


def test_a_dead_channel_layer_leaves_the_hint(settings: Any) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [f"redis://127.0.0.1:{dead_port()}/0"]},
        }
    }
    channel_layers.backends.clear()
    tenant = make.tenant()
    one = deliver("run.progress", tenant, {"run_id": "a", "seq": 1})
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(in_a_duty([one])))
    thread.start()
    thread.join(20)
    channel_layers.backends.clear()
    assert isinstance(outcome[0][one.event_id], routes.Unavailable)
