"""Signing secrets are encrypted anew when the keys of the installation change."""

from django.db import transaction

from outbox.models import WebhookEndpoint
from outbox.webhooks import secrets


def reseal_webhooks() -> int:
    """How many endpoints. Safe to stop and to run again: each row is one transaction. Raises
    :class:`outbox.webhooks.secrets.Sealed`."""
    done = 0
    for pk in WebhookEndpoint.everywhere.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic(durable=True):
            row = WebhookEndpoint.everywhere.select_for_update().filter(pk=pk).first()
            if row is not None:
                sealed = secrets.resealed(row.tenant_id, [bytes(one) for one in row.secrets])
                done += WebhookEndpoint.everywhere.filter(pk=pk).update(secrets=sealed)
    return done
