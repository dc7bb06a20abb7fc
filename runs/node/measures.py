"""What the keeper measures of itself: gathered in memory, added to the node's histogram every few seconds."""

from collections import Counter
from typing import Any

import orjson
import psycopg

from accounts.statements import statement
from runs import histogram
from runs.node.board import Board
from runs.node.clock import boot

FLUSH = 10.0
FORGET = 3600.0


class Measures:
    """Counts by (what, bucket); ``what`` as in `runs.models.LeaseMeasure`. One thread."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.counts: Counter[tuple[str, int]] = Counter()
        self.flush_at = boot() + FLUSH
        self.forget_at = 0.0

    def note(self, what: str, seconds: float, times: int = 1) -> None:
        self.counts[what, histogram.bucket(seconds)] += times

    def flush(self, db: psycopg.Connection[Any], *, now: bool = False) -> None:
        """Adds them when it is time, or ``now``. What a failure left behind goes with the next one."""
        if boot() >= self.flush_at or now:
            self.flush_at = boot() + FLUSH
            self._add(db)
        if boot() >= self.forget_at:
            self.forget_at = boot() + FORGET
            db.execute(statement("runs", "forget_lease_measures"))

    def _add(self, db: psycopg.Connection[Any]) -> None:
        if not self.counts:
            return
        rows = [{"what": what, "bucket": number, "count": n} for (what, number), n in self.counts.items()]
        measures = orjson.dumps(rows).decode()
        db.execute(
            statement("runs", "add_lease_measures"), {"worker": self.board.worker_id, "measures": measures}
        )
        self.counts.clear()
