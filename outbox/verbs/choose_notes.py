"""How a person wants to be told; as an administrator, how those are told who chose nothing."""

import uuid
from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Refused
from outbox.kinds import KINDS
from outbox.models import Channel, DigestTime, NotificationPreference
from outbox.notify import choices as defaults
from outbox.verbs.set_chat import may_set


def choose_notes(
    *,
    tenant_id: uuid.UUID,
    by: uuid.UUID,
    user_id: uuid.UUID | None,
    choices: Mapping[tuple[str, str], str],
    channel: str = "web",
) -> int:
    """Set the timing of these pairs of kind and channel; what is left out stays. Choosing what holds anyway keeps no choice:
    a default that changes later reaches who is content with it. How many changed. Raises :class:`accounts.errors.Refused`
    for what a kind does not offer, and then changes nothing."""
    may_set(tenant_id, by, user_id)
    for (kind, way), timing in choices.items():
        if kind not in KINDS or way not in Channel.values:
            text = _("There is no kind of note %(name)s. Nothing was changed.")
            raise Refused("unknown_kind", text % {"name": f"{kind}.{way}"[:60]}, field=f"{kind}__{way}")
        if timing not in KINDS[kind].choices(Channel(way)):
            text = _("This cannot be chosen here: %(name)s. Nothing was changed.")
            raise Refused(
                "not_offered", text % {"name": f"{kind}.{way} {timing}"[:60]}, field=f"{kind}__{way}"
            )
    changed: dict[str, str] = {}
    with transaction.atomic(durable=True):
        rows = NotificationPreference.everywhere.select_for_update().filter(
            tenant_id=tenant_id, user_id=user_id
        )
        before = {(row.kind, row.channel): row for row in rows}
        usual = defaults.of(tenant_id=tenant_id, user_ids=[]) if user_id else defaults.Choices()
        for key, timing in choices.items():
            row = before.get(key)
            if timing == usual.timing(None, KINDS[key[0]], Channel(key[1])):
                if row is not None:
                    row.delete()
                    changed[".".join(key)] = timing
                continue
            if row is not None and row.timing == timing:
                continue
            NotificationPreference.everywhere.update_or_create(
                tenant_id=tenant_id, user_id=user_id, kind=key[0], channel=key[1], defaults={"timing": timing}
            )
            changed[".".join(key)] = timing
        if changed and user_id is None:
            audit.append(
                tenant_id=tenant_id,
                act="notes.usual_changed",
                subject=("tenant", tenant_id.hex),
                payload=changed,
                actor=by,
                channel=channel,
            )
    return len(changed)


def set_digest_time(*, tenant_id: uuid.UUID, user_id: uuid.UUID, every: str, hour: int) -> None:
    """When one's own digest goes out. Raises :class:`accounts.errors.Refused`."""
    if every not in DigestTime.Every.values or not 0 <= hour <= 23:
        raise Refused(
            "bad_time", _("A digest comes every hour, or daily at an hour from 0 to 23."), field="hour"
        )
    DigestTime.everywhere.update_or_create(
        tenant_id=tenant_id, user_id=user_id, defaults={"every": every, "hour": hour}
    )
