"""The digest: one mail with everything that still stands, daily or hourly, by the reader's own clock.

Who wins: the unique pair of person and period. Two coordinators that make the same digest at once make one.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Min
from django.db.models.functions import Now
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.access import zone_of
from accounts.ids import new_id
from accounts.letters import Letter, page
from accounts.models import Tenant, User
from outbox.append import append
from outbox.consumers import post
from outbox.models import Digest, DigestTime, Notification
from outbox.notify.mails import drop
from outbox.notify.writers import language_of, write_now
from outbox.routes import Consumer, Delivery

DIGEST_TOPIC = "note.digest"
Status = Notification.Status
#: People of one pass.
PEOPLE = 500


def make_digests(*, now: datetime | None = None, limit: int = PEOPLE) -> int:
    """Make the digests that are due; how many. Owns its transactions, one a person: whoever is killed has made a digest or
    not."""
    moment = now or _db_now()
    waiting = Notification.everywhere.filter(status=Status.WAITING, digest__isnull=True)
    first = waiting.values("tenant_id", "user_id").annotate(since=Min("created_at"))
    rows = list(first.order_by("since")[:limit])
    users = User.objects.in_bulk([row["user_id"] for row in rows])
    times = {
        (one.tenant_id, one.user_id): one for one in DigestTime.everywhere.filter(user_id__in=list(users))
    }
    done = 0
    for row in rows:
        key = (row["tenant_id"], row["user_id"])
        period = due(times.get(key) or DigestTime(), zone_of(users[row["user_id"]]), moment)
        if row["since"] < period:
            done += _make(*key, period)
    return done


def due(when: DigestTime, zone: ZoneInfo, now: datetime) -> datetime:
    """The newest moment at which a digest was due, in UTC: the full hour, or the chosen hour of the day by the reader's
    clock. An hour that a clock change leaves out counts as the one after it."""
    if when.every == DigestTime.Every.HOURLY:
        return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    local = now.astimezone(zone)
    today = local.replace(hour=when.hour, minute=0, second=0, microsecond=0, fold=0)
    if today.astimezone(UTC) > now:
        today = (today.replace(tzinfo=None) - timedelta(days=1)).replace(tzinfo=zone)
    return today.astimezone(UTC)


def _make(tenant_id: uuid.UUID, user_id: uuid.UUID, period: datetime) -> bool:
    with transaction.atomic(durable=True):
        made = Digest(id=new_id(), tenant_id=tenant_id, user_id=user_id, period=period)
        Digest.everywhere.bulk_create([made], ignore_conflicts=True)
        if not Digest.everywhere.filter(pk=made.pk).exists():
            return False
        waiting = Notification.everywhere.filter(
            tenant_id=tenant_id, user_id=user_id, status=Status.WAITING, digest__isnull=True
        )
        waiting.update(digest=made)
        append(topic=DIGEST_TOPIC, tenant_id=tenant_id, payload={"digest_id": made.pk})
    return True


def digests(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Send digests by mail."""
    return post.carry(deliveries, _digest, _sent)


def _digest(delivery: Delivery) -> tuple[Letter, str] | None:
    """Written at the last moment: what was decided meanwhile is left out; nothing left, no mail."""
    row = _row(delivery)
    if row is None or row.ended_at is not None:
        return None
    lines: list[str] = []
    for note in Notification.everywhere.filter(digest=row, status=Status.WAITING).order_by(
        "created_at", "id"
    ):
        letter = write_now(note.topic, note.event, row.user, row.tenant_id)
        if letter is None:
            drop(note)
            continue
        lines.append(f"{post.one_line(letter.subject)}\n{settings.PUBLIC_URL}{note.link}")
    return (_letter(row, lines), row.pk.hex) if lines else None


def _letter(row: Digest, lines: list[str]) -> Letter:
    with translation.override(language_of(row.user, row.tenant_id)):
        tenant = Tenant.objects.get(pk=row.tenant_id)
        facts = {"total": len(lines), "tenant": tenant.name, "link": page("outbox:notifications")}
        subject = ngettext("%(total)d note from %(tenant)s", "%(total)d notes from %(tenant)s", len(lines))
        parts = [
            _("This is what happened since your last digest and still stands:"),
            *lines,
            _("Opening a page decides nothing. What comes in this digest is chosen here:\n%(link)s") % facts,
        ]
        return Letter(row.user.email, subject % facts, "\n\n".join(parts))


def _sent(delivery: Delivery) -> None:
    if (row := _row(delivery)) is None or row.ended_at is not None:
        return
    told = Notification.everywhere.filter(digest=row, status=Status.WAITING).update(
        status=Status.SENT, sent_at=Now(), last_error=""
    )
    Digest.everywhere.filter(pk=row.pk).update(ended_at=Now(), sent_at=Now() if told else None)


def _buried(delivery: Delivery, error: str) -> None:
    if (row := _row(delivery)) is not None:
        Notification.everywhere.filter(digest=row, status=Status.WAITING).update(
            status=Status.FAILED, last_error=error
        )
        Digest.everywhere.filter(pk=row.pk).update(ended_at=Now())


def _row(delivery: Delivery) -> Digest | None:
    pk = uuid.UUID(str(delivery.payload["digest_id"]))
    found: Digest | None = Digest.everywhere.select_related("user").filter(pk=pk).first()
    return found


def _db_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (found,) = cursor.fetchone()
    assert isinstance(found, datetime)
    return found


DIGESTS = Consumer("digests", digests, _buried)
