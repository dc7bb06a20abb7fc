"""Send a dead letter once more."""

import uuid

from django.db.models.functions import Now

from outbox.models import Message


def redeliver(*, message_id: uuid.UUID) -> bool:
    """Give a dead letter a new set of attempts; False when it is no dead letter. Messages of its key that were
    delivered meanwhile stay delivered, so it arrives out of order."""
    dead = Message.objects.filter(pk=message_id, dead_at__isnull=False)
    return dead.update(dead_at=None, attempts=0, next_attempt_at=Now(), last_error="") == 1
