"""Notes by chat. The threads only talk to the world; the database is the caller's alone. Chat has a lane of its own in the
relay, so a service that hangs holds up neither mail nor anything else, and those of one pass are sent side by side."""

import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Coalesce, Now
from django.utils import translation
from django.utils.translation import gettext as _

from outbox.chat import secrets, services
from outbox.kinds import KINDS, TEST
from outbox.models import ChatTarget, Notification
from outbox.notify.mails import buried, drop, failed, row_of, sent
from outbox.notify.writers import language_of, write_now
from outbox.routes import Consumer, Delivery, Hopeless

CHAT_TOPIC = "note.chat"
TEST_TOPIC = "chat.test"
SLOTS: Final = 10
#: Seconds after which a pass goes on without those that are still talking; they count as failed.
PATIENCE: Final = 45.0
Status = Notification.Status


@dataclass(frozen=True, slots=True)
class Errand:
    """One message to one chat."""

    delivery: Delivery
    target_id: uuid.UUID
    address: str
    title: str
    text: str


def chats(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Send notes by chat, side by side."""
    failures: dict[uuid.UUID, Exception] = {}
    errands: list[Errand] = []
    for delivery in deliveries:
        try:
            errand = _errand(delivery)
        except Exception as wrong:  # noqa: BLE001 - one bad note must not stop the others
            failures[delivery.event_id] = wrong
            continue
        if errand is not None:
            errands.append(errand)
    if not errands:
        return failures
    pool = ThreadPoolExecutor(min(SLOTS, len(errands)), thread_name_prefix="chat")
    under_way = {pool.submit(_send, errand): errand for errand in errands}
    wait(under_way, timeout=PATIENCE)
    pool.shutdown(wait=False, cancel_futures=True)
    for future, errand in under_way.items():
        error = _came_of(future)
        _judge(errand, error)
        if error is None:
            sent(errand.delivery)
        else:
            failures[errand.delivery.event_id] = error
    failed(deliveries, failures)
    return failures


def _errand(delivery: Delivery) -> Errand | None:
    """Written at the last moment; None when there is nothing to say, or nobody to say it to, any more."""
    row = row_of(delivery)
    if row is None or row.status != Status.PENDING:
        return None
    written = _written(row)
    if row.target is None or written is None:
        drop(row)
        return None
    Notification.everywhere.filter(pk=row.pk).update(attempts=F("attempts") + 1)
    address = secrets.opened(row.tenant_id, bytes(row.target.sealed))
    return Errand(delivery, row.target.pk, address, *written)


def _written(row: Notification) -> tuple[str, str] | None:
    """Title and text: one sentence and the page. To a tenant's chat the words of the kind alone, for others read there."""
    link = f"{settings.PUBLIC_URL}{row.link}"
    with translation.override(language_of(row.user, row.tenant_id)):
        closing = _("Opening the page decides nothing.")
        if row.kind == TEST:
            return "Countersign", _("This is a test. Notes from Countersign will arrive here.")
        if row.user is None:
            return "Countersign", f"{KINDS[row.kind].of_all}\n{link}\n{closing}"
    letter = write_now(row.topic, row.event, row.user, row.tenant_id)
    return (letter.subject, f"{letter.subject}\n{link}\n{closing}") if letter else None


def _send(errand: Errand) -> None:
    services.send(errand.address, title=errand.title, text=errand.text)


def _came_of(future: "Future[None]") -> Exception | None:
    if not future.done():
        return services.NotSent("It took too long.")
    error = future.exception()
    if isinstance(error, services.BadAddress):
        return Hopeless(str(error))
    if error is None or isinstance(error, services.NotSent):
        return error
    # Whatever else went wrong may quote the address.
    return services.NotSent(f"It was not sent: {type(error).__name__}.")


def _judge(errand: Errand, error: Exception | None) -> None:
    """How the chat is doing, for the page of who set it."""
    rows = ChatTarget.everywhere.filter(pk=errand.target_id)
    if error is None:
        rows.update(failing_since=None, last_error="")
    else:
        rows.update(failing_since=Coalesce("failing_since", Now()), last_error=str(error)[:300])


CHATS = Consumer("chats", chats, buried)
