"""Pages of the post room: webhooks, their deliveries, dead letters. For administrators."""
