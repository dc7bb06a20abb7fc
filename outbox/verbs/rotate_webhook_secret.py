"""A new signing secret; the one before signs too for a day, so that no receiver has to change at the same moment."""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from outbox.models import WebhookEndpoint
from outbox.verbs import checks
from outbox.webhooks import secrets

OVERLAP = timedelta(hours=24)


def rotate_webhook_secret(
    *, tenant_id: uuid.UUID, by: uuid.UUID, endpoint_id: uuid.UUID, channel: str = "web"
) -> str:
    """The new secret, which is never shown again. Older ones than the one before end at once. Raises
    ``WebhookEndpoint.DoesNotExist``."""
    secret = secrets.new()
    with transaction.atomic(durable=True):
        endpoint = checks.locked(tenant_id, endpoint_id)
        kept = [secrets.seal(tenant_id, secret), *(bytes(one) for one in endpoint.secrets[:1])]
        WebhookEndpoint.everywhere.filter(pk=endpoint.pk).update(
            secrets=kept, old_secrets_until=Now() + OVERLAP
        )
        checks.note("secret_rotated", endpoint, by, channel)
    return secret
