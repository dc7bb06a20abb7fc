"""Whether work moves: not whether a process is up, but how long ready work has been waiting and when some was last taken."""

from dataclasses import dataclass

from django.db import connection

from accounts.statements import statement

#: Ready work that nobody has taken for so many seconds means that nothing moves.
STALLED_AFTER = 60.0
#: Beat rings the nodes every 5 seconds through the broker. When none has heard it for so many, that way is dead (B04); work
#: goes on all the same, found by the poll.
SILENT_AFTER = 20.0


@dataclass(frozen=True, slots=True)
class Movement:
    """Ages in seconds by the database's clock; None when there is no ready step, nothing was ever claimed, no living node
    was ever rung, or no node lives."""

    oldest_ready: float | None
    last_claim: float | None
    last_bell: float | None = None
    node_age: float | None = None

    @property
    def stalled(self) -> bool:
        return self.oldest_ready is not None and self.oldest_ready > STALLED_AFTER

    @property
    def broker(self) -> str:
        """``heard``, ``silent``, or ``unknown`` while no node is there to hear it."""
        if self.node_age is None:
            return "unknown"
        since = self.node_age if self.last_bell is None else self.last_bell
        return "silent" if since > SILENT_AFTER else "heard"


def movement() -> Movement:
    """Of all tenants: for health checks."""
    with connection.cursor() as cursor:
        cursor.execute(statement("runs", "movement"))
        row = cursor.fetchone() or ()
    return Movement(*(None if age is None else max(0.0, float(age)) for age in row or (None, None)))
