"""What a metric is: its name, unit and words, declared once; values are read from the database when somebody asks.

Names and units follow Prometheus (base units, ``_total`` for counters). A label never holds what a tenant, an agent or a
tool wrote: only words of the engine itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

PREFIX = "countersign_"

Sample = tuple[Sequence[str], float]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric. ``name`` is without the product's prefix; ``buckets`` are the upper bounds of a histogram, without the
    last one, which has none."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def full_name(self) -> str:
        """As it is scraped: a counter ends in ``_total``."""
        return f"{PREFIX}{self.name}{'_total' if self.kind == 'counter' else ''}"

    def values(self, samples: Iterable[Sample]) -> Metric:
        """A counter or gauge with a value for each combination of labels."""
        kind = CounterMetricFamily if self.kind == "counter" else GaugeMetricFamily
        metric = kind(PREFIX + self.name, self.help, labels=self.labels)
        for labels, value in samples:
            metric.add_metric([str(label) for label in labels], float(value))
        return metric

    def value(self, value: float | None) -> Metric:
        """Without labels; None: there is nothing to measure, and no sample."""
        return self.values([] if value is None else [((), value)])

    def histogram(self, counts: Mapping[tuple[str, ...], Mapping[int, float]]) -> Metric:
        """From how many fell into each bucket, by labels; bucket -1 holds the sum."""
        metric = HistogramMetricFamily(PREFIX + self.name, self.help, labels=self.labels)
        for labels, found in sorted(counts.items()):
            total, buckets = 0.0, []
            for number, bound in enumerate([*self.buckets, float("inf")]):
                total += found.get(number, 0)
                buckets.append(("+Inf" if bound == float("inf") else f"{bound:g}", total))
            metric.add_metric(list(labels), buckets, float(found.get(-1, 0)))
        return metric


def counter(name: str, help: str, *labels: str) -> Family:
    return Family("counter", name, help, labels)


def gauge(name: str, help: str, *labels: str) -> Family:
    return Family("gauge", name, help, labels)


def histogram(name: str, help: str, *labels: str, buckets: tuple[float, ...]) -> Family:
    return Family("histogram", name, help, labels, buckets)
