"""What one attempt leaves behind: its row, the state of its delivery, and the judgement on its endpoint."""

import random
import uuid
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from accounts import audit, ids
from accounts.canonical import storable
from accounts.failpoints import fp
from accounts.statements import run
from outbox.append import append
from outbox.models import WebhookAttempt, WebhookEndpoint

#: Topic of the notice to administrators.
DISABLED = "webhook.disabled"
#: Seconds before the second, third … attempt. After the last one it is a dead letter: about three days in all. Source: the
#: schedule that Standard Webhooks recommends.
WAITS: tuple[float, ...] = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
#: A far side may ask for a longer wait (Retry-After), but not for more than this.
LONGEST_ASKED = 86_400.0
GONE = 410
EXCERPT = 500


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt and what came of it. ``status`` None: nothing was heard, and ``error`` says why."""

    delivery_id: uuid.UUID
    tenant_id: uuid.UUID
    endpoint_id: uuid.UUID
    attempt: int
    milliseconds: int
    status: int | None = None
    answer: str = ""
    error: str = ""
    retry_after: float = 0.0

    @property
    def taken(self) -> bool:
        """The far side has it: any status from 200 to 299."""
        return self.status is not None and 200 <= self.status < 300


def record(one: Try) -> bool:
    """Note an attempt; whether the delivery's state was still ours to change. Owns its transaction."""
    error = one.error or ("" if one.taken else f"It answered {one.status}.")
    with transaction.atomic():
        if not _still_there(one):
            return False
        noted = run(
            "outbox",
            "note_delivery",
            {
                "id": one.delivery_id,
                "attempt": one.attempt,
                "taken": one.taken,
                "dead": one.attempt > len(WAITS) or one.status == GONE,
                "wait": wait(one.attempt, one.retry_after),
                "status": one.status,
                "error": error,
            },
        )
        WebhookAttempt.everywhere.create(
            tenant_id=one.tenant_id,
            delivery_id=one.delivery_id,
            milliseconds=one.milliseconds,
            status=one.status,
            error=str(storable(error)[0])[:300],
            answer=str(storable(one.answer)[0])[:EXCERPT],
        )
        _judge(one, error)
        fp("webhook.noted")
    return bool(noted)


def wait(attempt: int, asked: float = 0.0) -> float:
    """Seconds until the next attempt: by the schedule, with jitter of a fifth, and not before the far side wants it."""
    planned = WAITS[min(attempt, len(WAITS)) - 1] * (0.9 + random.random() / 5)
    return max(planned, min(asked, LONGEST_ASKED))


def _still_there(one: Try) -> bool:
    """Locks the endpoint, before its deliveries as everywhere; it may be deleted while it is being told."""
    return WebhookEndpoint.everywhere.select_for_update().filter(pk=one.endpoint_id).exists()


def _judge(one: Try, error: str) -> None:
    """Joins the transaction; the audit head is locked last."""
    patience = settings.COUNTERSIGN.webhook_patience_seconds
    given = {"id": one.endpoint_id, "taken": one.taken, "gone": one.status == GONE, "patience": patience}
    for active, since in run("outbox", "note_endpoint", given):
        if active:
            continue
        endpoint = WebhookEndpoint.everywhere.get(pk=one.endpoint_id)
        why = (
            "It says that it is gone (410)."
            if one.status == GONE
            else f"Nothing was taken since {since:%Y-%m-%d %H:%M} UTC."
        )
        WebhookEndpoint.everywhere.filter(pk=endpoint.pk).update(disabled_why=f"{why} {error}"[:300])
        public = ids.public("webhookendpoint", endpoint.pk)
        payload = {"endpoint_id": endpoint.pk.hex, "name": endpoint.name, "why": why}
        append(topic=DISABLED, key=endpoint.pk.hex, tenant_id=one.tenant_id, payload=payload)
        text = f"The webhook {endpoint.name} is switched off. {why}"
        audit.append_many(
            [
                audit.Act(DISABLED, ("webhook", public), {"why": why}),
                audit.Act(audit.ALERT, ("webhook", public), {"code": DISABLED, "text": text}),
            ],
            tenant_id=one.tenant_id,
            actor_kind="courier",
        )
