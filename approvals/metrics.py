"""What the desk tells of itself in numbers (S12). Reads only; open questions come from a partial index, times from the
newest answers of the last day."""

from collections.abc import Iterable

from prometheus_client.core import Metric

from accounts.metrics import Family, gauge
from accounts.statements import run

OPEN = gauge("actions_open", "Questions that wait for a person, by kind.", "kind")
OLDEST = gauge("oldest_action_seconds", "How long the oldest open question has waited; 0: none.")
DECIDED = gauge(
    "approval_seconds",
    "From a request for approval to a person's answer, over the newest 1,000 of each tenant in the last day.",
    "quantile",
)
FAMILIES: tuple[Family, ...] = (OPEN, OLDEST, DECIDED)


def read() -> Iterable[Metric]:
    """All of them, now."""
    rows = run("approvals", "metrics_open", {})
    yield OPEN.values(((kind,), number) for kind, number, _ in rows)
    yield OLDEST.value(max((float(age or 0) for _, _, age in rows), default=0.0))
    ((times,),) = run("approvals", "metrics_decided", {})
    yield DECIDED.values(
        ((quantile,), seconds) for quantile, seconds in zip(("0.5", "0.95"), times or (), strict=False)
    )
