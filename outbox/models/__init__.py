"""Tables of the post room: fields, constraints and managers; no verbs."""

from outbox.models.duty import Duty
from outbox.models.message import Message, Receipt
from outbox.models.notification import Notification
from outbox.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint

__all__ = [
    "Duty",
    "Message",
    "Notification",
    "Receipt",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEndpoint",
]
