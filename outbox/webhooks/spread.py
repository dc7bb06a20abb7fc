"""A consumer of the relay: turns facts into deliveries, one for each endpoint that wants them."""

import uuid
from collections.abc import Iterable, Mapping, Sequence

from outbox.models import WebhookDelivery, WebhookEndpoint
from outbox.routes import Consumer, Delivery
from outbox.webhooks import events
from outbox.webhooks.events import Event


def spread(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Write what is to be delivered. A repeat writes nothing: the pair of endpoint and event is unique."""
    failures: dict[uuid.UUID, Exception] = {}
    told: list[tuple[Delivery, Event]] = []
    for delivery in deliveries:
        try:
            event = events.translated(delivery.topic, delivery.payload)
        except Exception as error:  # noqa: BLE001 - one bad message must not stop the others
            failures[delivery.event_id] = error
            continue
        if event is not None and delivery.tenant_id is not None:
            told.append((delivery, event))
    rows = _rows(told)
    if rows:
        WebhookDelivery.everywhere.bulk_create(rows, ignore_conflicts=True)
    return failures


def _rows(told: Sequence[tuple[Delivery, Event]]) -> list[WebhookDelivery]:
    endpoints = _endpoints({delivery.tenant_id for delivery, _ in told if delivery.tenant_id})
    return [
        WebhookDelivery(
            tenant_id=delivery.tenant_id,
            endpoint_id=endpoint.pk,
            event_id=delivery.event_id,
            type=event.type,
            key=delivery.key,
            body=dict(event.data),
        )
        for delivery, event in told
        for endpoint in endpoints
        if endpoint.tenant_id == delivery.tenant_id and (not endpoint.events or event.type in endpoint.events)
    ]


def _endpoints(tenants: Iterable[uuid.UUID]) -> list[WebhookEndpoint]:
    wanted = sorted(tenants)
    return list(WebhookEndpoint.everywhere.filter(tenant_id__in=wanted, active=True)) if wanted else []


HOOKS = Consumer("webhooks", spread)
