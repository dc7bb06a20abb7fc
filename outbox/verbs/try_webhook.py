"""The test button: one event ``webhook.test`` to one endpoint, along the same way as all others."""

import uuid

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import ids
from accounts.errors import Refused
from accounts.ids import new_id
from outbox.models import WebhookDelivery
from outbox.verbs import checks
from outbox.webhooks.events import TEST


def try_webhook(
    *, tenant_id: uuid.UUID, by: uuid.UUID, endpoint_id: uuid.UUID, channel: str = "web"
) -> WebhookDelivery:
    """The delivery that was queued. Raises :class:`accounts.errors.Refused` and ``WebhookEndpoint.DoesNotExist``."""
    with transaction.atomic(durable=True):
        endpoint = checks.locked(tenant_id, endpoint_id)
        if not endpoint.active:
            raise Refused("switched_off", _("This webhook is switched off. Nothing was sent."))
        queued: WebhookDelivery = WebhookDelivery.everywhere.create(
            tenant_id=tenant_id,
            endpoint=endpoint,
            event_id=new_id(),
            type=TEST,
            body={"webhook": ids.public("webhookendpoint", endpoint.pk)},
        )
        checks.note("tested", endpoint, by, channel)
    return queued
