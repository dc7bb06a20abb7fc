"""The post room's REST door: webhooks and their deliveries, for tokens of administrators with the scope ``webhooks``."""
