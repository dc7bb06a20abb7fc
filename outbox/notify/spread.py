"""A consumer of the relay: turns events into notes."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from outbox.append import Fact, append_many
from outbox.consumers import hints, post
from outbox.kinds import KINDS
from outbox.models import Channel, ChatTarget, Notification, Timing
from outbox.notify import choices
from outbox.notify.chats import CHAT_TOPIC
from outbox.notify.mails import MAIL_TOPIC
from outbox.notify.writers import Writer, ends, write, writer_of
from outbox.receive import once
from outbox.routes import Consumer, Delivery

NAME = "notes"
SUBJECT_LENGTH = 300
Status = Notification.Status


def notes(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Turn events into notes; pages that are open look again."""
    failures: dict[uuid.UUID, Exception] = {}
    seen: set[uuid.UUID] = set()
    for delivery in deliveries:
        try:
            _spread(delivery)
            if delivery.tenant_id:
                seen.add(delivery.tenant_id)
        except Exception as error:  # noqa: BLE001 - one bad event must not stop the others
            failures[delivery.event_id] = error
    hints.inboxes(seen)
    return failures


def _spread(delivery: Delivery) -> None:
    """Owns its transaction: receipt, rows and messages commit together, so a repeat does nothing."""
    writer = writer_of(delivery.topic)
    with transaction.atomic():
        if delivery.tenant_id is None or not once(NAME, delivery.event_id):
            return
        rows = [*_to_people(delivery, writer), *_to_chat_of_tenant(delivery, writer)]
        Notification.everywhere.bulk_create(rows)
        append_many(carried(row) for row in rows if row.status == Status.PENDING)
        _over(delivery)
        fresh = [row.pk for row in rows if row.channel == Channel.PAGE]
        Notification.everywhere.filter(pk__in=fresh).update(sent_at=Now())


def _over(delivery: Delivery) -> None:
    """What stands in pages about this and is over with it counts as read."""
    ended = ends(delivery.topic)
    if not ended or not delivery.key:
        return
    unread = Notification.everywhere.filter(
        about=delivery.key, channel=Channel.PAGE, read_at__isnull=True, kind__in=ended
    )
    unread.filter(event_id__lt=delivery.event_id).update(read_at=Now())


_TOPICS = {Channel.MAIL.value: MAIL_TOPIC, Channel.CHAT.value: CHAT_TOPIC}


def carried(row: Notification) -> Fact:
    """The message that carries a note."""
    payload = {"notification_id": row.pk}
    return Fact(topic=_TOPICS[row.channel], key=_key(row), tenant_id=row.tenant_id, payload=payload)


def _key(row: Notification) -> str:
    """In order for each person, channel and subject: a letter waits for the one before, and for nobody else's. A chat that
    hangs holds up no mail."""
    if not row.about:
        return ""
    reader = row.user_id.hex if row.user_id else "tenant"
    return f"c:{reader}:{row.about}" if row.channel == Channel.CHAT else f"{reader}:{row.about}"


def _to_people(delivery: Delivery, writer: Writer) -> list[Notification]:
    assert delivery.tenant_id is not None
    people = list({user.pk: user for user in writer.recipients(delivery.payload)}.values())
    chosen = choices.of(tenant_id=delivery.tenant_id, user_ids=[user.pk for user in people])
    chats = {
        row.user_id: row
        for row in ChatTarget.everywhere.filter(tenant_id=delivery.tenant_id, user__in=people)
    }
    rows = []
    for user in people:
        letter = write(delivery.topic, delivery.payload, user, delivery.tenant_id)
        if letter is None:
            continue
        kind = KINDS[writer.kind_of(delivery.payload, user)]
        for channel in (Channel.MAIL, Channel.PAGE, Channel.CHAT):
            timing = chosen.timing(user.pk, kind, channel)
            if timing == Timing.OFF or (channel == Channel.CHAT and user.pk not in chats):
                continue
            rows.append(
                Notification(
                    user=user,
                    channel=channel,
                    subject=post.one_line(letter.subject)[:SUBJECT_LENGTH],
                    status=_begins(channel, timing),
                    loud=channel == Channel.PAGE
                    and chosen.timing(user.pk, kind, Channel.BROWSER) != Timing.OFF,
                    target=chats.get(user.pk) if channel == Channel.CHAT else None,
                    **_common(delivery, writer, kind.name),
                )
            )
    return rows


def _to_chat_of_tenant(delivery: Delivery, writer: Writer) -> list[Notification]:
    """One to the tenant's chat, in the words of its kind alone: others may read there."""
    kind = writer.kind_of(delivery.payload, None)
    target = ChatTarget.everywhere.filter(tenant_id=delivery.tenant_id, user__isnull=True).first()
    if target is None or (target.kinds and kind not in target.kinds):
        return []
    words = str(KINDS[kind].of_all)
    return [Notification(channel=Channel.CHAT, subject=words, target=target, **_common(delivery, writer, kind))]  # fmt: skip


def _common(delivery: Delivery, writer: Writer, kind: str) -> dict[str, Any]:
    return {
        "tenant_id": delivery.tenant_id,
        "event_id": delivery.event_id,
        "kind": kind,
        "topic": delivery.topic,
        "event": dict(delivery.payload),
        "about": delivery.key,
        "link": writer.path(delivery.payload),
    }


def _begins(channel: Channel, timing: Timing) -> str:
    if channel == Channel.PAGE:
        return Status.SENT
    return Status.WAITING if timing == Timing.DIGEST else Status.PENDING


NOTES = Consumer(NAME, notes)
