"""Celery tasks of the post room: they only ring. The coordinators' own polls do the same without them."""

from celery import shared_task
from django.conf import settings

from outbox.relay import drain


@shared_task(name="outbox.relay", ignore_result=True)  # type: ignore[untyped-decorator]
def relay() -> int:
    """Deliver what is due."""
    return drain(limit=settings.COUNTERSIGN.relay_batch)
