"""Ids in addresses: ``act_…``."""

from accounts.converters import PublicId


class ActionId(PublicId):
    """``act_…``"""

    kind = "pendingaction"
