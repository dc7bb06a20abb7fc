"""What nodes measured of their leases, put together."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum
from django.db.models.functions import Now

from accounts.statements import run
from runs import histogram
from runs.models import LeaseMeasure


@dataclass(frozen=True, slots=True)
class Measured:
    """Of all nodes over some hours; durations in seconds, None where there was nothing to measure.

    ``looks`` of keepers and the 99th percentile of how late they came (``pause``) · ``renewals`` that were answered, the
    99th percentile of how long that took, and ``failed`` ones · ``steps``: tool calls that ended, their median and 99th
    percentile.
    """

    hours: int
    looks: int
    pause: float | None
    renewals: int
    renewal: float | None
    failed: int
    steps: int
    step_median: float | None
    step: float | None


def measured(*, hours: int = 24) -> Measured:
    """What is kept of the last ``hours``, the present one included."""
    kept: dict[str, Counter[int]] = {what: Counter() for what in LeaseMeasure.What.values}
    recent = LeaseMeasure.objects.filter(hour__gt=Now() - timedelta(hours=hours))
    for what, bucket, count in recent.values_list("what", "bucket").annotate(n=Sum("count")).order_by():
        kept[what][bucket] += count
    ((steps, median, long),) = run("runs", "step_durations", {"hours": hours})
    return Measured(
        hours=hours,
        looks=kept["pause"].total(),
        pause=_p99(kept["pause"]),
        renewals=kept["renewal"].total(),
        renewal=_p99(kept["renewal"]),
        failed=kept["failed"].total(),
        steps=steps,
        step_median=median,
        step=long,
    )


def _p99(counts: Counter[int]) -> float | None:
    return histogram.quantile(counts, 0.99) if counts else None
