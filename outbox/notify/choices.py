"""When each kind of note goes out to whom: what a person chose, else what the tenant set, else what is usual."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

from outbox.kinds import KINDS, Kind
from outbox.models import Channel, NotificationPreference, Timing


@dataclass(frozen=True, slots=True)
class Choices:
    """Of some people of one tenant: (person or None for the tenant, kind, channel) → timing."""

    chosen: dict[tuple[uuid.UUID | None, str, str], str] = field(default_factory=dict)

    def timing(self, user_id: uuid.UUID | None, kind: Kind, channel: Channel) -> Timing:
        """A choice that the kind does not offer counts as none: nothing that must be told is ever off."""
        for who in dict.fromkeys((user_id, None)):
            found = self.chosen.get((who, kind.name, channel.value))
            if found is not None and found in kind.choices(channel):
                return Timing(found)
        return kind.usual(channel)


def of(*, tenant_id: uuid.UUID, user_ids: Iterable[uuid.UUID], kinds: Iterable[str] | None = None) -> Choices:
    """Read what these people and their tenant chose, in one query."""
    rows = NotificationPreference.everywhere.filter(tenant_id=tenant_id)
    mine = rows.filter(user_id__in=list(user_ids)) | rows.filter(user_id__isnull=True)
    if kinds is not None:
        mine = mine.filter(kind__in=list(kinds))
    return Choices({(row.user_id, row.kind, row.channel): row.timing for row in mine})


def table(
    *, tenant_id: uuid.UUID, user_id: uuid.UUID | None, administrator: bool
) -> list[tuple[Kind, dict[Channel, Timing]]]:
    """Every kind with its timing on each channel, as one person (or, without one, the tenant) has it now."""
    found = of(tenant_id=tenant_id, user_ids=[user_id] if user_id else [])
    return [
        (kind, {channel: found.timing(user_id, kind, channel) for channel in Channel})
        for kind in KINDS.values()
        if administrator or not kind.administrators
    ]
