"""Bells: ring a Celery task by name. They carry no truth, so one ring per pass and task is enough."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outbox.routes import Consumer, Delivery, Unavailable

#: One more try on a connection that the broker closed meanwhile, then the message waits.
RETRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}


def bell(task: str, send: Callable[..., Any]) -> Consumer:
    """Ring this task with the payload of the newest message of the pass. ``send`` is ``send_task`` of the Celery app:
    the duties run in threads, where Celery's current app is another one."""

    def tell(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
        newest = dict(deliveries[-1].payload)
        try:
            send(task, kwargs=newest, ignore_result=True, retry=True, retry_policy=RETRY)
        except Exception as error:  # noqa: BLE001 - kombu wraps some transport errors and lets others through
            closed = Unavailable(f"The broker did not take a message: {error}")
            return {delivery.event_id: closed for delivery in deliveries}
        return {}

    return Consumer(f"bell:{task}", tell)
