"""A person has read notes in the page."""

import uuid
from collections.abc import Iterable

from django.db.models.functions import Now

from outbox.consumers import hints
from outbox.notify import reads


def read_notes(*, tenant_id: uuid.UUID, user_id: uuid.UUID, ids: Iterable[uuid.UUID] | None = None) -> int:
    """Count these, or without any all, as read; how many were not. Only one's own are found."""
    rows = reads.mine(user_id=user_id, tenant_id=tenant_id).filter(read_at__isnull=True)
    if ids is not None:
        rows = rows.filter(pk__in=list(ids))
    done = rows.order_by().update(read_at=Now())
    if done:
        hints.inboxes([tenant_id])
    return done
