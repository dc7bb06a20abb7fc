"""The rules of a lease: how long it must be, when it is renewed, when its holder stops by itself. Pure; no Django.

The words: *lease* is the time for which a step belongs to a worker by the database's clock; the *local deadline* is the
moment, on the worker's own clock, from which it may not act on that step any more. It counts from before the question that
took or prolonged the lease was sent, and ends ``clock_error`` earlier, so that it always lies before the end of the lease
(C. Gray and D. Cheriton, "Leases: an efficient fault-tolerant mechanism for distributed file cache consistency", 1989).
"""

import random
from dataclasses import dataclass
from typing import Any, NamedTuple


class Problem(NamedTuple):
    """A setting that would lose leases of healthy workers. ``serious``: nothing may start with it."""

    code: str
    text: str
    hint: str
    serious: bool = True


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms on which a node holds its leases; all but ``failures`` in seconds.

    ``tick``: how often the keeper looks for leases to renew · ``failures``: renewals in a row that may fail before the node
    stops a step by itself · ``clock_error``: how far the database's clock may be from ours over one lease · ``progress``:
    how long a step that reports progress may be silent.
    """

    lease: float
    tick: float
    failures: int = 3
    clock_error: float = 0.0
    progress: float = 60.0

    @classmethod
    def of(cls, options: Any) -> "Terms":
        """From the engine's settings (`config.engine_env`)."""
        return cls(
            lease=options.lease_seconds,
            tick=options.renew_seconds,
            failures=options.renew_failures,
            clock_error=options.clock_error_seconds,
            progress=options.progress_seconds,
        )

    def local_deadline(self, sent: float) -> float:
        """When the holder must stop, for a lease that was asked for at ``sent`` on its own clock (B36)."""
        return sent + self.lease - self.clock_error

    def next_renewal(self, now: float, sent: float, *, look: float | None = None) -> float:
        """When to renew next: at a third to a half of what remains of the lease, at random, so that renewals of many do not
        meet (L4). A failed one is tried again after a third to a half of the rest, and so on. The keeper looks every
        ``look`` seconds (as a rule ``tick``) and takes what would be due before its next look: see :meth:`due`."""
        remaining = max(0.0, sent + self.lease - now)
        earliest, latest = remaining / 3 + (self.tick if look is None else look), remaining / 2
        return now + (random.uniform(earliest, latest) if earliest < latest else latest)

    def due(self, now: float, renew_at: float, *, look: float | None = None) -> bool:
        """Whether a renewal belongs to the look at ``now``, because at the next one it would be late."""
        return now + (self.tick if look is None else look) > renew_at


def shortest(*, failures: int, renew: float, clock_error: float, longest_commit: float) -> float:
    """The shortest lease that survives ``failures`` failed renewals: ``k * renew_interval + clock_error + longest_commit``
    seconds (L5). After k failures there must be time for a commit that is under way, by the slower of two clocks."""
    return failures * renew + clock_error + longest_commit


def problems(options: Any) -> list[Problem]:
    """What is wrong with the lease settings in ``options`` (`config.engine_env`), in plain words. Empty: nothing."""
    found = []
    floor = shortest(
        failures=options.renew_failures,
        renew=options.renew_seconds,
        clock_error=options.clock_error_seconds,
        longest_commit=options.longest_commit_seconds,
    )
    lease, renew = options.lease_seconds, options.renew_seconds
    if lease < floor:
        found.append(
            Problem(
                "E001",
                f"COUNTERSIGN_LEASE_SECONDS is {lease:g}, but {options.renew_failures} renewals of {renew:g} s + clock "
                f"error {options.clock_error_seconds:g} s + longest commit {options.longest_commit_seconds:g} s are "
                f"{floor:g} s: healthy workers would lose their steps.",
                f"Set COUNTERSIGN_LEASE_SECONDS to at least {floor:g}, or COUNTERSIGN_RENEW_SECONDS lower; "
                "`manage.py lease_advice` suggests a lease from what was measured.",
            )
        )
    if renew > lease / 3:
        found.append(
            Problem(
                "E002",
                f"COUNTERSIGN_RENEW_SECONDS is {renew:g}, more than a third of the lease ({lease:g} s): a lease is renewed "
                "at a third to a half of what remains, and the keeper would look too seldom for that.",
                f"Set COUNTERSIGN_RENEW_SECONDS to at most {lease / 3:g}.",
            )
        )
    if options.poll_seconds > lease:
        found.append(
            Problem(
                "W001",
                f"COUNTERSIGN_POLL_SECONDS is {options.poll_seconds:g}, longer than the lease ({lease:g} s): the steps of a "
                "dead worker wait longer for the poll than for the end of their lease.",
                f"Set COUNTERSIGN_POLL_SECONDS below {lease:g}; 0.5 costs little.",
                serious=False,
            )
        )
    if options.progress_seconds < renew:
        found.append(
            Problem(
                "W002",
                f"COUNTERSIGN_PROGRESS_SECONDS is {options.progress_seconds:g}, shorter than one renewal ({renew:g} s): "
                "steps that report their progress would be ended between two reports.",
                f"Set COUNTERSIGN_PROGRESS_SECONDS above {renew:g}; 60 is usual.",
                serious=False,
            )
        )
    return found
