"""Forget what is of no more use: delivered messages, receipts that no repeat can need, counters of past windows."""

from datetime import timedelta

from django.db.models.functions import Now

from accounts import limits
from outbox.models import Message, Receipt

MESSAGES = timedelta(days=14)
#: Longer than any message can stay on its way.
RECEIPTS = timedelta(days=60)


def sweep() -> int:
    """Delete what is old; gives how many rows. Dead letters stay until somebody looks at them."""
    messages, _ = Message.objects.filter(published_at__lt=Now() - MESSAGES).delete()
    receipts, _ = Receipt.objects.filter(at__lt=Now() - RECEIPTS).delete()
    return messages + receipts + limits.forget()
