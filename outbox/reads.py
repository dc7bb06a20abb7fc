"""What the pages and the API of this room show. All reads; scoped to the tenant that is named."""

import uuid
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from outbox.models import Message, WebhookAttempt, WebhookDelivery, WebhookEndpoint

PAGE: Final = 50
WAITS = Q(delivered_at__isnull=True, dead_at__isnull=True)
#: Choices of the list of deliveries: name → which.
SHOWN: Final = {
    "all": Q(),
    "waiting": WAITS,
    "delivered": Q(delivered_at__isnull=False),
    "dead": Q(dead_at__isnull=False),
}


@dataclass(frozen=True, slots=True)
class State:
    """How a delivery or an endpoint is doing: a tone and a mark of the pages, and a word."""

    name: str
    tone: str
    mark: str
    word: "str | Promise"


DELIVERED = State("delivered", "done", "done", _("Delivered"))
WAITING = State("waiting", "stopped", "tocome", _("On its way"))
AGAIN = State("waiting", "waiting", "waiting", _("To be tried again"))
DEAD = State("dead", "failed", "failed", _("Given up"))
ON = State("on", "done", "done", _("On"))
FAILING = State("failing", "waiting", "waiting", _("Failing"))
OFF = State("off", "stopped", "stopped", _("Off"))
GIVEN_UP = State("off", "failed", "failed", _("Switched off by the machine"))


def state_of(row: WebhookDelivery) -> State:
    """Of a delivery."""
    if row.delivered_at is not None:
        return DELIVERED
    if row.dead_at is not None:
        return DEAD
    return AGAIN if row.last_error else WAITING


def health_of(row: WebhookEndpoint) -> State:
    """Of an endpoint."""
    if not row.active:
        return GIVEN_UP if row.disabled_why else OFF
    return ON if row.failing_since is None else FAILING


def webhooks(*, tenant_id: uuid.UUID) -> "QuerySet[WebhookEndpoint]":
    """All of a tenant by name, each with ``waiting`` and ``dead``: how many deliveries."""
    rows: QuerySet[WebhookEndpoint] = WebhookEndpoint.everywhere.filter(tenant_id=tenant_id)
    waits = Q(deliveries__delivered_at__isnull=True, deliveries__dead_at__isnull=True)
    return rows.annotate(
        waiting=Count("deliveries", filter=waits & Q(deliveries__id__isnull=False)),
        dead=Count("deliveries", filter=Q(deliveries__dead_at__isnull=False)),
    ).order_by("name", "id")


def webhook(*, tenant_id: uuid.UUID, endpoint_id: uuid.UUID) -> WebhookEndpoint | None:
    """One, or None."""
    found: WebhookEndpoint | None = webhooks(tenant_id=tenant_id).filter(pk=endpoint_id).first()
    return found


def deliveries(*, endpoint: WebhookEndpoint, shown: str = "all") -> "QuerySet[WebhookDelivery]":
    """Of one endpoint, the newest first."""
    rows: QuerySet[WebhookDelivery] = WebhookDelivery.everywhere.filter(SHOWN[shown], endpoint=endpoint)
    return rows.order_by("-event_id")


def delivery(*, tenant_id: uuid.UUID, delivery_id: uuid.UUID) -> WebhookDelivery | None:
    """One with its endpoint, or None."""
    found: WebhookDelivery | None = (
        WebhookDelivery.everywhere.select_related("endpoint")
        .filter(tenant_id=tenant_id, pk=delivery_id)
        .first()
    )
    return found


def attempts(row: WebhookDelivery) -> list[WebhookAttempt]:
    """Every attempt of a delivery, the newest first."""
    return list(WebhookAttempt.everywhere.filter(delivery=row).order_by("-at", "-id")[:PAGE])


def dead_letters(*, tenant_id: uuid.UUID) -> list[Any]:
    """Messages of a tenant that were given up, the newest first."""
    rows = Message.objects.filter(tenant_id=tenant_id, dead_at__isnull=False)
    return list(rows.order_by("-created_at", "-id")[: PAGE * 4])
