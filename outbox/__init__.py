"""The post room: everything that leaves, and everything that one room tells another later.

Owns: Message, Receipt, Notification, NotificationPreference, Digest, DigestTime, ChatTarget, WebhookEndpoint,
WebhookDelivery, Duty.

Words: *message* = a fact written in the same transaction as the change it speaks of · *relay* = delivers
messages at least once, in order per key · *receipt* = a consumer's note that it has handled an event, so
that a repeat does nothing · *dead letter* = a message that used up its attempts; it is kept and can be
redelivered · *duty* = periodic work with one elected holder.

Dangers: publishing before the commit · skipping a message whose transaction committed late (the relay asks
for what is unpublished, never for what is newer) · one bad message that blocks its neighbours.

Lock order: after everything of runs, approvals and tools; before the audit head.
"""
