"""What the post room tells of itself in numbers (S12). Reads only, by partial indexes."""

from collections.abc import Iterable

from prometheus_client.core import Metric

from accounts.metrics import Family, gauge
from accounts.statements import run

PENDING = gauge("outbox_pending", "Messages that have not been told yet. Counted up to 100,000.")
LAG = gauge("outbox_lag_seconds", "How long the oldest message has waited to be told; 0: none waits.")
DEAD = gauge("outbox_dead", "Messages that were given up.")
WEBHOOKS = gauge(
    "webhooks_pending", "Deliveries that wait for a webhook that is switched on. Counted up to 100,000."
)
FAILING = gauge("webhooks_failing", "Webhooks that have taken nothing since a failure.")
FAMILIES: tuple[Family, ...] = (PENDING, LAG, DEAD, WEBHOOKS, FAILING)


def read() -> Iterable[Metric]:
    """All of them, now."""
    ((pending, lag, dead, webhooks, failing),) = run("outbox", "metrics_outbox", {})
    yield PENDING.value(pending)
    yield LAG.value(lag or 0.0)
    yield DEAD.value(dead)
    yield WEBHOOKS.value(webhooks)
    yield FAILING.value(failing)
