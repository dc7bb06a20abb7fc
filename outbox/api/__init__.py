"""The post room's REST door: webhooks and their deliveries, for tokens of administrators with the scope ``webhooks``; and
one's own notes, with the scopes ``read`` and ``profile``."""
