"""What the workbench tells of itself in numbers (S12, L20). Reads only, by partial indexes and small tables."""

from collections.abc import Iterable

from prometheus_client.core import Metric

from accounts.metrics import Family, counter, gauge
from accounts.statements import run

WORKERS = gauge("workers", "Worker processes that are not known to be gone, by kind.", "kind")
HEARD = gauge(
    "worker_bell_seconds_max",
    "Of the nodes that live: how long ago the one was rung through the broker that was not rung longest. Work goes on "
    "without bells, by the poll.",
)
OPEN = gauge("effects_open", "Effects that are being sent, or whose outcome is unknown.", "status")
DUPLICATES = counter(
    "duplicates_confirmed",
    "Effects that happened twice, by a person's report that another confirmed (I). Over effects_requested, times 10,000, "
    "it is the rate.",
)
REPORTED = gauge("duplicates_reported", "Reports of duplicates that nobody has answered yet.")
FAMILIES: tuple[Family, ...] = (WORKERS, HEARD, OPEN, DUPLICATES, REPORTED)


def read() -> Iterable[Metric]:
    """All of them, now."""
    rows = run("tools", "metrics_workers", {})
    yield WORKERS.values(((kind,), number) for kind, number, _ in rows)
    yield HEARD.value(next((age for kind, _, age in rows if kind == "main"), None))
    yield OPEN.values(((status.lower(),), number) for status, number in run("tools", "metrics_effects", {}))
    ((confirmed, reported),) = run("tools", "metrics_duplicates", {})
    yield DUPLICATES.value(confirmed)
    yield REPORTED.value(reported)
