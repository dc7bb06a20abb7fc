"""Addresses of chats are encrypted anew when the keys of the installation change."""

from django.db import transaction

from outbox.chat import secrets
from outbox.models import ChatTarget


def reseal_chats() -> int:
    """How many. Safe to stop and to run again: each row is one transaction. Raises :class:`outbox.chat.secrets.Sealed`."""
    done = 0
    for pk in ChatTarget.everywhere.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic(durable=True):
            row = ChatTarget.everywhere.select_for_update().filter(pk=pk).first()
            if row is not None:
                address = secrets.opened(row.tenant_id, bytes(row.sealed))
                sealed = secrets.seal(row.tenant_id, address)
                done += ChatTarget.everywhere.filter(pk=pk).update(sealed=sealed)
    return done
