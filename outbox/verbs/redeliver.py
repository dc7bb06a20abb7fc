"""Send a dead letter once more."""

import uuid

from django.db import transaction
from django.db.models.functions import Now

from accounts import audit, ids
from outbox.models import Message


def redeliver(
    *,
    message_id: uuid.UUID,
    tenant_id: uuid.UUID | None = None,
    by: uuid.UUID | None = None,
    channel: str = "web",
) -> bool:
    """Give a dead letter a new set of attempts; False when it is no dead letter (of this tenant, if one is named). Messages
    of its key that were delivered meanwhile stay delivered, so it arrives out of order. Owns its transaction."""
    with transaction.atomic():
        dead = Message.objects.filter(pk=message_id, dead_at__isnull=False)
        if tenant_id is not None:
            dead = dead.filter(tenant_id=tenant_id)
        won = dead.update(dead_at=None, attempts=0, next_attempt_at=Now(), last_error="") == 1
        if won and tenant_id is not None:
            audit.append(
                tenant_id=tenant_id,
                act="message.redelivered",
                subject=("message", ids.public("message", message_id)),
                actor=by,
                channel=channel,
            )
    return won
