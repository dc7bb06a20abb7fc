"""An endpoint is deleted."""

import uuid

from django.db import transaction

from outbox.models import WebhookDelivery, WebhookEndpoint
from outbox.verbs import checks


def close_webhook(
    *, tenant_id: uuid.UUID, by: uuid.UUID, endpoint_id: uuid.UUID, channel: str = "web"
) -> None:
    """Its deliveries go with it; how many were waiting is on record. Raises ``WebhookEndpoint.DoesNotExist``."""
    with transaction.atomic(durable=True):
        endpoint = checks.locked(tenant_id, endpoint_id)
        waiting = WebhookDelivery.everywhere.filter(
            endpoint=endpoint, delivered_at__isnull=True, dead_at__isnull=True
        ).count()
        pk, url = endpoint.pk, endpoint.url
        WebhookEndpoint.everywhere.filter(pk=pk).delete()
        checks.note("deleted", endpoint, by, channel, {"url": url, "waiting": waiting})
