"""Ids in addresses: ``whe_…`` and ``whd_…``."""

from accounts.converters import PublicId


class WebhookId(PublicId):
    """``whe_…``"""

    kind = "webhookendpoint"


class DeliveryId(PublicId):
    """``whd_…``"""

    kind = "webhookdelivery"
