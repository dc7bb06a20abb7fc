"""Notes to people: who is told, once per event, person and channel, and whether it arrived.

What there is to say is known by the rooms above; each registers a writer for its topics. A note is a row of its own and
travels as a message of its own, so a bad address or a slow server delays nobody else.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import translation

from accounts.letters import Letter
from accounts.models import Tenant, User
from outbox.append import Fact, append_many
from outbox.consumers import post
from outbox.models import Notification
from outbox.receive import once
from outbox.routes import Consumer, Delivery

MAIL_TOPIC = "note.mail"
NAME = "notes"


class Writer(Protocol):
    """What a room above knows about its topic."""

    kind: str

    def recipients(self, payload: Mapping[str, Any]) -> Iterable[User]:
        """Who should be told, with the rights of this moment."""

    def letter(self, payload: Mapping[str, Any], user: User) -> Letter | None:
        """The note in the active language; None when it has become pointless."""


_writers: dict[str, Writer] = {}


def register(topic: str, writer: Writer) -> None:
    """Set the writer of a topic."""
    _writers[topic] = writer


def notes(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Turn events into notes, one row and one message per person."""
    failures: dict[uuid.UUID, Exception] = {}
    for delivery in deliveries:
        try:
            _spread(delivery)
        except Exception as error:  # noqa: BLE001 - one bad event must not stop the others
            failures[delivery.event_id] = error
    return failures


def _spread(delivery: Delivery) -> None:
    """Owns its transaction: receipt, rows and messages commit together, so a repeat does nothing."""
    writer = _writers[delivery.topic]
    with transaction.atomic():
        if delivery.tenant_id is None or not once(NAME, delivery.event_id):
            return
        rows = [
            Notification(
                tenant_id=delivery.tenant_id,
                event_id=delivery.event_id,
                user=user,
                kind=writer.kind,
                subject=post.one_line(letter.subject),
            )
            for user in writer.recipients(delivery.payload)
            if (letter := _write(writer, delivery.payload, user, delivery.tenant_id)) is not None
        ]
        Notification.everywhere.bulk_create(rows)
        append_many(
            Fact(
                topic=MAIL_TOPIC,
                # In order for each person and subject: a letter waits for the one before, and for nobody else's.
                key=f"{row.user_id.hex}:{delivery.key}" if delivery.key else "",
                tenant_id=row.tenant_id,
                payload={"notification_id": row.pk, "topic": delivery.topic, "event": dict(delivery.payload)},
            )
            for row in rows
        )


def mails(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Send notes by mail."""
    return post.carry(deliveries, _mail, _sent)


def _mail(delivery: Delivery) -> tuple[Letter, str] | None:
    """Written at the last moment: in the person's language of now, and not at all when it has become pointless."""
    row = _row(delivery)
    if row is None or row.status == Notification.Status.SENT or not row.user.is_active:
        return None
    Notification.everywhere.filter(pk=row.pk).update(attempts=F("attempts") + 1)
    letter = _write(
        _writers[str(delivery.payload["topic"])], delivery.payload["event"], row.user, row.tenant_id
    )
    return (letter, reference(row.event_id, row.user_id)) if letter else None


def reference(event_id: uuid.UUID, user_id: uuid.UUID) -> str:
    """The stable part of a note's Message-ID, short enough for one line: event and person, digested (RFC 9562)."""
    return uuid.uuid5(event_id, user_id.hex).hex


def _sent(delivery: Delivery) -> None:
    row = _row(delivery)
    if row is not None:
        pending = Notification.everywhere.filter(pk=row.pk, status=Notification.Status.PENDING)
        pending.update(status=Notification.Status.SENT, sent_at=Now(), last_error="")


def _buried(delivery: Delivery, error: str) -> None:
    row = _row(delivery)
    if row is not None:
        pending = Notification.everywhere.filter(pk=row.pk, status=Notification.Status.PENDING)
        pending.update(status=Notification.Status.FAILED, last_error=error)


def _row(delivery: Delivery) -> Notification | None:
    found: Notification | None = (
        Notification.everywhere.select_related("user")
        .filter(pk=uuid.UUID(str(delivery.payload["notification_id"])))
        .first()
    )
    return found


def _write(writer: Writer, payload: Mapping[str, Any], user: User, tenant_id: uuid.UUID) -> Letter | None:
    with translation.override(user.language or _language(tenant_id)):
        return writer.letter(payload, user)


def _language(tenant_id: uuid.UUID) -> str:
    """What the tenant speaks, for people who never chose."""
    chosen = Tenant.objects.filter(pk=tenant_id).values_list("language", flat=True).first()
    return chosen if chosen in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


NOTES = Consumer(NAME, notes)
MAILS = Consumer("mails", mails, _buried)
