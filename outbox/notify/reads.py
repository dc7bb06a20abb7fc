"""What pages and the API show of notes. All reads; scoped to the tenant and person that are named."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db.models import Max, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from outbox.models import Channel, ChatTarget, DigestTime, Notification

PAGE: Final = 50
Status = Notification.Status
#: Choices of the list of a tenant's notes: name → which.
SHOWN: Final = {
    "failed": Q(status=Status.FAILED),
    "waiting": Q(status__in=[Status.PENDING, Status.WAITING]),
    "all": Q(),
}


@dataclass(frozen=True, slots=True)
class State:
    """How a note is doing: a tone and a mark of the pages, and a word."""

    name: str
    tone: str
    mark: str
    word: "str | Promise"


READ = State("read", "done", "done", pgettext_lazy("a note", "read"))
UNREAD = State("unread", "stopped", "tocome", pgettext_lazy("a note", "not read yet"))
_STATES: Final = {
    Status.PENDING: State("pending", "stopped", "tocome", _("on its way")),
    Status.WAITING: State("waiting", "stopped", "tocome", _("waits for the digest")),
    Status.SENT: State("sent", "done", "done", _("sent")),
    Status.FAILED: State("failed", "failed", "failed", pgettext_lazy("a note", "failed")),
    Status.DROPPED: State("dropped", "stopped", "stopped", _("not sent: it did not stand any more")),
}
_TAKEN: Final = {
    Channel.MAIL.value: State("sent", "done", "done", _("taken by the mail server")),
    Channel.CHAT.value: State("sent", "done", "done", _("taken by the chat")),
}
_RETRIED: Final = State("pending", "waiting", "waiting", _("failed, to be tried again"))


def state_of(row: Notification) -> State:
    """Of a note: taken by whom, read or not, or why it has not arrived."""
    if row.channel == Channel.PAGE:
        return READ if row.read_at else UNREAD
    if row.status == Status.SENT:
        return _TAKEN[row.channel]
    return _RETRIED if row.status == Status.PENDING and row.attempts else _STATES[Status(row.status)]


def bell(*, user_id: uuid.UUID, tenant_id: uuid.UUID) -> int:
    """How many notes in the page this person has not read."""
    return _unread(user_id, tenant_id).count()


def loudest(*, user_id: uuid.UUID, tenant_id: uuid.UUID) -> int:
    """When the newest unread note came that may ring on the desktop, in milliseconds; 0: there is none."""
    newest = _unread(user_id, tenant_id).filter(loud=True).aggregate(at=Max("created_at"))["at"]
    return int(newest.timestamp() * 1000) if newest else 0


def mine(*, user_id: uuid.UUID, tenant_id: uuid.UUID) -> "QuerySet[Notification]":
    """The notes in the page of one person, the newest first."""
    rows: QuerySet[Notification] = Notification.everywhere.filter(
        user_id=user_id, tenant_id=tenant_id, channel=Channel.PAGE
    )
    return rows.order_by("-id")


def told(*, tenant_id: uuid.UUID, about: Iterable[str]) -> list[Notification]:
    """Who was told of one thing, over which channel, oldest first; the latest hundred."""
    rows = Notification.everywhere.select_related("user").filter(tenant_id=tenant_id, about__in=list(about))
    return list(rows.order_by("-id")[:100])[::-1]


def of_tenant(*, tenant_id: uuid.UUID, shown: str) -> "QuerySet[Notification]":
    """Notes by mail and chat of everybody, the newest first."""
    rows: QuerySet[Notification] = Notification.everywhere.select_related("user").filter(
        SHOWN[shown], tenant_id=tenant_id
    )
    return rows.exclude(channel=Channel.PAGE).order_by("-id")


def chat(*, tenant_id: uuid.UUID, user_id: uuid.UUID | None) -> ChatTarget | None:
    """The chat of a person, or of the tenant."""
    found: ChatTarget | None = ChatTarget.everywhere.filter(tenant_id=tenant_id, user_id=user_id).first()
    return found


def digest_time(*, tenant_id: uuid.UUID, user_id: uuid.UUID) -> DigestTime:
    """When a person's digest goes out; who chose nothing has the usual one."""
    found: DigestTime | None = DigestTime.everywhere.filter(tenant_id=tenant_id, user_id=user_id).first()
    return found or DigestTime(tenant_id=tenant_id, user_id=user_id)


def _unread(user_id: uuid.UUID, tenant_id: uuid.UUID) -> "QuerySet[Notification]":
    return mine(user_id=user_id, tenant_id=tenant_id).filter(read_at__isnull=True).order_by()
