"""Ids in addresses: ``whe_…`` and ``whd_…``; anything else names nothing (404)."""

import uuid

from accounts.ids import BadId, parse, public


class _Id:
    kind = ""

    def to_python(self, value: str) -> uuid.UUID:
        try:
            return parse(self.kind, value)
        except BadId as error:
            raise ValueError(value) from error

    def to_url(self, value: uuid.UUID | str) -> str:
        return public(self.kind, value) if isinstance(value, uuid.UUID) else value


class WebhookId(_Id):
    """``whe_…`` in the path, a UUID in the view."""

    kind = "webhookendpoint"
    regex = r"(?:whe_)?[0-9a-f-]{32,36}"


class DeliveryId(_Id):
    """``whd_…`` in the path, a UUID in the view."""

    kind = "webhookdelivery"
    regex = r"(?:whd_)?[0-9a-f-]{32,36}"
