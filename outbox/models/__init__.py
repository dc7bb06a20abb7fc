"""Tables of the post room: fields, constraints and managers; no verbs."""

from outbox.models.chat import ChatTarget
from outbox.models.duty import Duty
from outbox.models.message import Message, Receipt
from outbox.models.notification import (
    Channel,
    Digest,
    DigestTime,
    Notification,
    NotificationPreference,
    Timing,
)
from outbox.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint

__all__ = [
    "Channel",
    "ChatTarget",
    "Digest",
    "DigestTime",
    "Duty",
    "Message",
    "Notification",
    "NotificationPreference",
    "Receipt",
    "Timing",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEndpoint",
]
