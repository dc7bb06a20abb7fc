"""Ids in addresses: ``act_…``; anything else names nothing (404)."""

import uuid

from accounts.ids import BadId, parse, public


class ActionId:
    """``act_…`` in the path, a UUID in the view."""

    regex = r"(?:act_)?[0-9a-f-]{32,36}"

    def to_python(self, value: str) -> uuid.UUID:
        try:
            return parse("pendingaction", value)
        except BadId as error:
            raise ValueError(value) from error

    def to_url(self, value: uuid.UUID | str) -> str:
        return public("pendingaction", value) if isinstance(value, uuid.UUID) else value
