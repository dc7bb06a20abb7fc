"""How long a lease should be, from what was measured (L5). Pure.

A lease that is too short stops healthy executions whose renewals were merely late; one that is too long leaves the steps of
a dead worker lying. With a node on the same host the lease hardly matters for recovery (the lock of the dead node frees
its steps), so when in doubt it should be longer.

Lease terms and clock error after C. Gray and D. Cheriton, "Leases: an efficient fault-tolerant mechanism for distributed
file cache consistency" (SOSP 1989); that a pause makes a holder outlive its lease, and why a fence is needed beside it,
after M. Burrows, "The Chubby lock service" (OSDI 2006), section 2.4.
"""

import math
from dataclasses import dataclass

from runs.leases import shortest
from runs.selectors.lease_measures import Measured

#: On top of what was measured: tomorrow is worse than the worst hundredth of today.
MARGIN = 0.25
#: A tool that does not hear that it should stop is left behind after so many seconds (`runs.node.pump.OBEY`).
LET_GO = 2.0


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that the advice starts from, in seconds."""

    lease: float
    renew: float
    failures: int
    clock_error: float
    longest_commit: float


@dataclass(frozen=True, slots=True)
class Advice:
    """Seconds and probabilities; see the functions of the same names."""

    lease: float
    single_failure: float
    false_stop: float
    window: float
    duplicate: float
    without_renewal: float | None


def advise(measured: Measured, rules: Rules) -> Advice:
    """All of it. What was never measured counts as 0 seconds."""
    single = single_failure(failed=measured.failed, renewals=measured.renewals)
    stop = false_stop(single, rules.failures)
    overlap = window(pause=measured.pause or 0.0, clock_error=rules.clock_error)
    return Advice(
        lease=suggested_lease(pause=measured.pause or 0.0, renewal=measured.renewal or 0.0, rules=rules),
        single_failure=single,
        false_stop=stop,
        window=overlap,
        duplicate=duplicate(stop, seconds=measured.step or 0.0, lease=rules.lease) if overlap else 0.0,
        without_renewal=None if measured.step is None else 2 * measured.step,
    )


def suggested_lease(*, pause: float, renewal: float, rules: Rules) -> float:
    """``(k * (renew_interval + p99 renewal) + p99 pause + clock_error + longest_commit) * (1 + margin)``, to the next half
    second: the inequality of L5, with each of its k renewals as slow as the slowest hundredth, after one such pause."""
    floor = shortest(
        failures=rules.failures,
        renew=rules.renew + renewal,
        clock_error=rules.clock_error,
        longest_commit=rules.longest_commit,
    )
    return math.ceil((floor + pause) * (1 + MARGIN) * 2) / 2


def single_failure(*, failed: int, renewals: int) -> float:
    """p, the probability that one renewal fails: ``(failed + 1) / (tried + 2)``, Laplace's rule of succession, which is
    never zero because of a few good days."""
    return (failed + 1) / (failed + renewals + 2)


def false_stop(single: float, failures: int) -> float:
    """``p ** k``: the probability that a healthy step is stopped because k renewals in a row failed. It takes failures as
    independent; those of one outage are not, so it is a lower bound when outages are what makes renewals fail."""
    return float(single**failures)


def window(*, pause: float, clock_error: float) -> float:
    """For how many seconds two may work on one step: ``max(0, p99 pause + time to let go - clock_error)``.

    A holder stops ``clock_error`` before its lease ends. It is late by as much as its process pauses, and a tool that does
    not listen goes on until it is left behind. The fence keeps what it still does from counting. No effect begins in this
    window: begin compares owner, fence and lease in the database."""
    return max(0.0, pause + LET_GO - clock_error)


def duplicate(stop: float, *, seconds: float, lease: float) -> float:
    """The probability that a step of ``seconds`` is worked on twice at a time: ``1 - (1 - p ** k) ** n`` with
    ``n = ceil(seconds / (lease / 3))`` renewals at most. An upper bound: not every stop falls into another's execution."""
    renewals = max(1, math.ceil(seconds / (lease / 3)))
    return -math.expm1(renewals * math.log1p(-min(stop, 1 - 1e-12)))
