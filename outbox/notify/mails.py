"""Notes by mail, one letter each."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import F
from django.db.models.functions import Now

from accounts.canonical import storable
from accounts.letters import Letter
from outbox.consumers import post
from outbox.models import Notification
from outbox.notify.writers import write_now
from outbox.routes import Consumer, Delivery

MAIL_TOPIC = "note.mail"
Status = Notification.Status


def mails(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Send notes by mail."""
    failures = post.carry(deliveries, _mail, sent)
    failed(deliveries, failures)
    return failures


def _mail(delivery: Delivery) -> tuple[Letter, str] | None:
    """Written at the last moment: in the person's language of now, and not at all when it has become pointless."""
    row = row_of(delivery)
    if row is None or row.user is None or row.status == Status.SENT:
        return None
    Notification.everywhere.filter(pk=row.pk).update(attempts=F("attempts") + 1)
    letter = write_now(*source(row, delivery.payload), row.user, row.tenant_id)
    if letter is None:
        drop(row)
        return None
    return letter, reference(row.event_id, row.user.pk)


def source(row: Notification, payload: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Topic and event that a note is written from; those of messages from before stand in the message itself."""
    return (row.topic, row.event) if row.topic else (str(payload["topic"]), payload["event"])


def reference(event_id: uuid.UUID, user_id: uuid.UUID) -> str:
    """The stable part of a note's Message-ID, short enough for one line: event and person, digested (RFC 9562)."""
    return uuid.uuid5(event_id, user_id.hex).hex


def sent(delivery: Delivery) -> None:
    """Note that it was taken; does nothing to one that was dropped."""
    if (row := row_of(delivery)) is not None:
        pending = Notification.everywhere.filter(pk=row.pk, status=Status.PENDING)
        pending.update(status=Status.SENT, sent_at=Now(), last_error="")


def failed(deliveries: Sequence[Delivery], failures: Mapping[uuid.UUID, Exception]) -> None:
    """Note on each why it has not left yet, for who looks."""
    for delivery in deliveries:
        error = failures.get(delivery.event_id)
        if error is not None and (row := row_of(delivery)) is not None:
            pending = Notification.everywhere.filter(pk=row.pk, status=Status.PENDING)
            pending.update(last_error=str(storable(str(error))[0])[:300])


def drop(row: Notification) -> None:
    """Note that there was nothing to say any more."""
    pending = Notification.everywhere.filter(pk=row.pk, status__in=[Status.PENDING, Status.WAITING])
    pending.update(status=Status.DROPPED, last_error="")


def buried(delivery: Delivery, error: str) -> None:
    """Note that it was given up."""
    if (row := row_of(delivery)) is not None:
        pending = Notification.everywhere.filter(pk=row.pk, status=Status.PENDING)
        pending.update(status=Status.FAILED, last_error=error)


def row_of(delivery: Delivery) -> Notification | None:
    """The note that a message carries."""
    found: Notification | None = (
        Notification.everywhere.select_related("user", "target")
        .filter(pk=uuid.UUID(str(delivery.payload["notification_id"])))
        .first()
    )
    return found


MAILS = Consumer("mails", mails, buried)
