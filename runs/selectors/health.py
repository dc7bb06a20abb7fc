"""Whether work moves: not whether a process is up, but how long ready work has been waiting and when some was last taken."""

from dataclasses import dataclass

from django.db import connection

from accounts.statements import statement

#: Ready work that nobody has taken for so many seconds means that nothing moves.
STALLED_AFTER = 60.0


@dataclass(frozen=True, slots=True)
class Movement:
    """Ages in seconds by the database's clock; None when there is no ready step, or nothing was ever claimed."""

    oldest_ready: float | None
    last_claim: float | None

    @property
    def stalled(self) -> bool:
        return self.oldest_ready is not None and self.oldest_ready > STALLED_AFTER


def movement() -> Movement:
    """Of all tenants: for health checks."""
    with connection.cursor() as cursor:
        cursor.execute(statement("runs", "movement"))
        row = cursor.fetchone()
    ready, claim = row or (None, None)
    return Movement(*(None if age is None else max(0.0, float(age)) for age in (ready, claim)))
