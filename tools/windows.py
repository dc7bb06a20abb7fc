"""Rolling windows: how many calls there were in the last hour or minute, and when there is room for one more. Pure.

A window is cut into 60 slots, and the slot that is under way counts beside the 60 before it. So what is counted reaches back
at least one whole window: never are there more calls than allowed in any hour, whenever it begins. It reaches back one slot
more at most, which is what the few numbers cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

SLOTS = 60
HOUR, MINUTE = 3600, 60


@dataclass(frozen=True, slots=True)
class Window:
    """``seconds`` long. ``counts`` are the calls in consecutive slots, the first of which has the number ``first``: slots
    are numbered from the epoch."""

    seconds: int
    first: int = 0
    counts: Sequence[int] = ()

    @property
    def slot(self) -> int:
        """Seconds in one slot."""
        return self.seconds // SLOTS

    def now(self, at: datetime) -> "Window":
        """Without what is over at this instant."""
        oldest = int(at.timestamp()) // self.slot - SLOTS
        over = max(0, oldest - self.first)
        return replace(self, first=self.first + over, counts=tuple(self.counts[over:]))

    def used(self, at: datetime) -> int:
        """The calls that count at this instant. What stands there from the future, by a clock that was set back, counts."""
        return sum(self.now(at).counts)

    def taken(self, at: datetime) -> "Window":
        """With one call more."""
        left = self.now(at)
        number = int(at.timestamp()) // self.slot
        if not left.counts:
            return replace(left, first=number, counts=(1,))
        counts = list(left.counts)
        counts += [0] * (number - left.first + 1 - len(counts))
        counts[max(number - left.first, 0)] += 1
        return replace(left, counts=tuple(counts))

    def free_at(self, at: datetime, limit: int, *, before: int = 0) -> datetime:
        """When one more call has room under ``limit`` (at least 1), if ``before`` others that wait go first."""
        left = self.now(at)
        used = sum(left.counts)
        # The call that has to be over: one that was made, or, a window later, one of those that wait.
        place = used + before - limit
        if place < 0:
            return at
        rounds = max(0, -(-(place - used + 1) // limit))
        place -= rounds * limit
        number = int(at.timestamp()) // self.slot
        if place >= 0:
            number = left._number(place) + SLOTS + 1
        moment = (number + rounds * (SLOTS + 1)) * self.slot
        return max(at, datetime.fromtimestamp(moment, tz=UTC))

    def _number(self, place: int) -> int:
        """The slot of the call at this place, the oldest first."""
        for offset, count in enumerate(self.counts):
            place -= count
            if place < 0:
                return self.first + offset
        raise IndexError(place)
