"""The node's own clock: seconds that also pass while the machine sleeps. Only for its own deadlines, never for a decision
about stored times."""

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot() -> float:
    """Seconds since the machine was started; the same in all processes of the machine."""
    return time.clock_gettime(_CLOCK)
