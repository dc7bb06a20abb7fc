"""Fixtures: two receivers, a tenant with an endpoint, a courier, and the permission to reach this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection

from outbox.append import Fact, append_many
from outbox.models import WebhookDelivery, WebhookEndpoint
from outbox.relay import drain
from outbox.verbs.open_webhook import open_webhook
from outbox.webhooks.courier import Courier
from tests.make import people
from tests.outbox.webhooks.receiver import Receiver, receiving
from tests.runs.node.real import until


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def other() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def here(settings: Any) -> None:
    """This machine may be told; without it the guard refuses, as it should."""
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"webhook_hosts": "127.0.0.1"})


@dataclass
class House:
    cast: people.Cast
    courier: Courier = field(default_factory=Courier)

    def endpoint(self, receiver: Receiver, *events: str, name: str = "ERP") -> tuple[WebhookEndpoint, str]:
        return open_webhook(
            tenant_id=self.cast.tenant.pk, by=self.cast.jonas.pk, name=name, url=receiver.url, events=events
        )

    def tell(self, number: int = 1, *, key: str = "", tenant: Any = None) -> list[str]:
        """So many facts of one subject, through the relay."""
        made = append_many(
            Fact(
                topic="alert.raised",
                key=key,
                tenant_id=(tenant or self.cast.tenant).pk,
                payload={"code": f"n{place}"},
            )
            for place in range(number)
        )
        while drain(limit=100):
            pass
        return [f"evt_{one.hex}" for one in made]

    def carry(self) -> None:
        """Until nothing is under way any more."""
        self.courier.turn()
        until(lambda: self.courier.turn() == 0 and not self.courier._under_way, what="all are back")

    def due(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE outbox_webhookdelivery SET next_attempt_at = now()")

    def only(self) -> WebhookDelivery:
        found: WebhookDelivery = WebhookDelivery.everywhere.get()
        return found


@pytest.fixture
def house(transactional_db: None, here: None) -> Iterator[House]:
    made = House(people.cast())
    yield made
    made.courier.close()
