"""The test button of a chat: one note along the same way as all others."""

import uuid

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import limits
from accounts.errors import Refused
from accounts.ids import new_id
from outbox.append import append_many
from outbox.kinds import TEST
from outbox.models import Channel, ChatTarget, Notification
from outbox.notify.chats import TEST_TOPIC
from outbox.notify.spread import carried
from outbox.verbs.set_chat import may_set, note

#: Tests of one person within so many seconds.
TESTS, WINDOW = 10, 300


def try_chat(
    *, tenant_id: uuid.UUID, by: uuid.UUID, user_id: uuid.UUID | None, channel: str = "web"
) -> Notification:
    """The note that was queued; its state says what came of it. Raises :class:`accounts.errors.Refused`."""
    may_set(tenant_id, by, user_id)
    if not limits.allow(key=f"chat-test:{by}", limit=TESTS, seconds=WINDOW):
        raise Refused("too_many", _("Too many tests. Wait some minutes. Nothing was sent."))
    with transaction.atomic(durable=True):
        target = ChatTarget.everywhere.filter(tenant_id=tenant_id, user_id=user_id).first()
        if target is None:
            raise Refused("no_chat", _("No chat is set. Nothing was sent."))
        queued: Notification = Notification.everywhere.create(
            tenant_id=tenant_id,
            event_id=new_id(),
            user_id=user_id,
            channel=Channel.CHAT,
            kind=TEST,
            topic=TEST_TOPIC,
            subject=_("Test"),
            target=target,
        )
        append_many([carried(queued)])
        note("tested", target, by, channel)
    return queued
