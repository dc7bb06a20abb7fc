"""An endpoint is switched on or off by a person."""

import uuid

from django.db import transaction

from outbox.models import WebhookEndpoint
from outbox.verbs import checks


def switch_webhook(
    *, tenant_id: uuid.UUID, by: uuid.UUID, endpoint_id: uuid.UUID, on: bool, channel: str = "web"
) -> bool:
    """Whether anything changed. Off: nothing is sent and no event is kept for it, what waits is kept. On: it goes on with
    what waits. Raises ``WebhookEndpoint.DoesNotExist``."""
    with transaction.atomic(durable=True):
        endpoint = checks.locked(tenant_id, endpoint_id)
        rows = WebhookEndpoint.everywhere.filter(pk=endpoint.pk, active=not on)
        won = rows.update(active=on, disabled_why="", failing_since=None)
        if won:
            checks.note("enabled" if on else "disabled", endpoint, by, channel)
    return bool(won)
