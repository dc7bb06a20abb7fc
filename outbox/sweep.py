"""Forget what is of no more use: what was delivered, receipts that no repeat needs, old notes, counters of past windows."""

from datetime import timedelta

from django.db.models import F, Q
from django.db.models.functions import Now

from accounts import limits
from outbox.models import Digest, Message, Notification, Receipt, WebhookDelivery, WebhookEndpoint

MESSAGES = timedelta(days=14)
#: Longer than any message can stay on its way.
RECEIPTS = timedelta(days=60)
#: Deliveries that were taken, and those that nobody redelivered.
DELIVERED, GIVEN_UP = timedelta(days=30), timedelta(days=90)
#: Notes to people, read or not.
NOTES = timedelta(days=90)


def sweep() -> int:
    """Delete what is old; gives how many rows. Dead letters stay until somebody looks at them."""
    messages, _ = Message.objects.filter(published_at__lt=Now() - MESSAGES).delete()
    receipts, _ = Receipt.objects.filter(at__lt=Now() - RECEIPTS).delete()
    ended = Q(delivered_at__lt=Now() - DELIVERED) | Q(dead_at__lt=Now() - GIVEN_UP)
    deliveries, _ = WebhookDelivery.everywhere.filter(ended).delete()
    notes, _ = Notification.everywhere.filter(created_at__lt=Now() - NOTES).delete()
    digests, _ = Digest.everywhere.filter(made_at__lt=Now() - NOTES, notes__isnull=True).delete()
    WebhookEndpoint.everywhere.filter(old_secrets_until__lt=Now()).update(
        secrets=F("secrets__0_1"), old_secrets_until=None
    )
    return messages + receipts + deliveries + notes + digests + limits.forget()
