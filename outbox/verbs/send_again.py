"""A delivery goes out once more."""

import uuid

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.errors import Refused
from accounts.ids import public
from outbox.models import WebhookDelivery
from outbox.verbs import checks


def send_again(
    *, tenant_id: uuid.UUID, by: uuid.UUID, delivery_id: uuid.UUID, channel: str = "web"
) -> WebhookDelivery:
    """Gives a delivery that was taken or given up a new set of attempts, under the same ``webhook-id``. Raises
    :class:`accounts.errors.Refused` while it waits anyway or its endpoint is off, and ``WebhookDelivery.DoesNotExist``."""
    with transaction.atomic(durable=True):
        found: WebhookDelivery = WebhookDelivery.everywhere.get(pk=delivery_id, tenant_id=tenant_id)
        endpoint = checks.locked(tenant_id, found.endpoint_id)
        if not endpoint.active:
            raise Refused("switched_off", _("This webhook is switched off. Nothing was sent."))
        ended = Q(delivered_at__isnull=False) | Q(dead_at__isnull=False)
        won = WebhookDelivery.everywhere.filter(ended, pk=found.pk).update(
            delivered_at=None, dead_at=None, attempts=0, next_attempt_at=Now()
        )
        if won != 1:
            raise Refused("on_its_way", _("It is on its way already. Nothing was changed."))
        checks.note("redelivered", endpoint, by, channel, {"event": public("message", found.event_id)})
    found.refresh_from_db()
    return found
