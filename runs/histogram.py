"""Durations as counts in buckets that grow by a fifth: small enough to keep for each hour of each process. Pure."""

import math
from collections.abc import Mapping

#: Seconds that bucket 0 reaches to; each bucket reaches 2 ** (1/4) times as far as the one before.
SMALLEST = 0.001
PER_DOUBLING = 4
LAST = 80


def bucket(seconds: float) -> int:
    """The bucket of a duration. Negative ones count as none; bucket 80 (about 17 minutes) takes all that is longer."""
    if seconds <= SMALLEST:
        return 0
    return min(LAST, math.ceil(PER_DOUBLING * math.log2(seconds / SMALLEST)))


def bound(number: int) -> float:
    """The longest duration of a bucket, in seconds."""
    return float(SMALLEST * 2 ** (number / PER_DOUBLING))


def quantile(counts: Mapping[int, int], share: float) -> float:
    """The upper bound of the bucket in which the quantile lies, in seconds: never too small, at most a fifth too large.
    Raises ValueError without a measurement."""
    total = sum(counts.values())
    if not total:
        raise ValueError("nothing was measured")
    rank, seen = math.ceil(share * total), 0
    for number in sorted(counts):
        seen += counts[number]
        if seen >= rank:
            return bound(number)
    return bound(max(counts))
