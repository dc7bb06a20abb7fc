"""The keeper: renews leases, hears which runs want to stop, says that the node lives. A thread with a connection of its
own, so that nothing the engine waits for can delay a renewal (L4, L19)."""

import logging
import random
import threading
import uuid
from typing import Any

import psycopg
from django.db import connection as django_connection

from runs.engine.cancel import CHANNEL
from runs.engine.renew import renew, standing
from runs.node.board import Board
from runs.node.children import Child, Entry
from runs.node.clock import boot
from runs.node.pump import Pump
from runs.node.watch import Watch

log = logging.getLogger(__name__)

#: After so many ticks in a row that failed, nothing new is claimed.
DEAF_AFTER = 3
_SEEN = """UPDATE tools_workerprocess
SET last_seen_at = clock_timestamp(), draining = %(draining)s,
    last_claim_at = CASE WHEN %(claimed)s THEN clock_timestamp() ELSE last_claim_at END
WHERE id = %(worker)s AND stopped_at IS NULL"""


class Gone(Exception):
    """Somebody recorded that this process is gone: it must not go on."""


class Keeper:
    """``tick`` is the time between renewals in seconds."""

    def __init__(self, board: Board, pump: Pump, watch: Watch, *, tick: float) -> None:
        self.board, self.pump, self.watch, self.tick_seconds = board, pump, watch, tick
        self.failures = 0
        self.seen_claim = 0.0

    def run(self) -> None:
        """The thread. A lost connection is made again; a node that was recorded as gone ends."""
        while not self.board.stopped:
            try:
                with connect() as db:
                    db.execute(f"LISTEN {CHANNEL}")
                    self._keep(db)
            except psycopg.Error as error:
                self.failures += 1
                if self.failures == DEAF_AFTER:
                    log.error("leases cannot be renewed (%s): nothing new is claimed until they can", error)
                with self.board.lock:
                    self.board.deaf = self.failures >= DEAF_AFTER
                self._rest(0.2)

    def _rest(self, seconds: float) -> None:
        threading.Event().wait(seconds)

    def _keep(self, db: psycopg.Connection[Any]) -> None:
        due = boot()
        while not self.board.stopped:
            # Woken by a cancel, or when the next renewal is due.
            for _ in db.notifies(timeout=max(0.0, due - boot()), stop_after=1):
                pass
            if boot() >= due:
                due = max(due, boot() - self.tick_seconds) + self.tick_seconds * random.uniform(0.8, 1.0)
                self._tick(db)
            self._look(db)
            self._answered()

    def _answered(self) -> None:
        if self.failures >= DEAF_AFTER:
            log.info("leases can be renewed again")
        self.failures = 0
        with self.board.lock:
            if self.board.deaf:
                self.board.deaf, self.board.work = False, True
                self.board.lock.notify_all()

    def _held(self) -> list[tuple[Child, Entry]]:
        with self.board.lock:
            return [(c, e) for c in self.board.children for e in c.inflight.values() if not e.abandoned]

    def _tick(self, db: psycopg.Connection[Any]) -> None:
        # The local deadline counts from before the question was sent (B36).
        sent = boot()
        due = [
            (child, entry) for child, entry in self._held() if sent >= entry.renew_at and entry.why != "lost"
        ]
        kept = renew(
            db,
            worker_id=self.board.worker_id,
            leases=[(entry.claimed.step_id, entry.claimed.fence) for _, entry in due],
            seconds=self.board.lease,
        )
        self._prolong([(child, entry) for child, entry in due if entry.claimed.step_id in kept], sent)
        claimed = self.board.claimed_at > self.seen_claim
        self.seen_claim = self.board.claimed_at
        seen = db.execute(
            _SEEN, {"worker": self.board.worker_id, "draining": self.board.draining, "claimed": claimed}
        )
        if seen.rowcount != 1 and not self.board.stopped:
            raise Gone("This node was recorded as gone while it still ran: it ends.")
        self.watch.look(db)

    def _prolong(self, kept: list[tuple[Child, Entry]], sent: float) -> None:
        told: dict[Child, list[list[Any]]] = {}
        with self.board.lock:
            for child, entry in kept:
                entry.renewed, entry.renew_at = sent, sent + self.board.renew_after()
                told.setdefault(child, []).append(
                    [entry.claimed.step_id, entry.claimed.fence, sent + self.board.lease]
                )
        for child, rows in told.items():
            self.board.send(child, {"lease": rows})

    def _look(self, db: psycopg.Connection[Any]) -> None:
        held = self._held()
        leases = [(entry.claimed.step_id, entry.claimed.fence) for _, entry in held]
        found = standing(db, worker_id=self.board.worker_id, leases=leases)
        if not found.lost and not found.stopping:
            return
        for child, entry in held:
            step: uuid.UUID = entry.claimed.step_id
            # What was recorded meanwhile is not held any more, which is no loss.
            if step in found.lost and child.inflight.get(step) is entry:
                self.pump.stop(child, entry, "lost")
            elif step in found.stopping:
                self.pump.stop(child, entry, "cancel")


def connect() -> psycopg.Connection[Any]:
    """A connection apart from Django's, in autocommit, whose statements cannot hang for ever."""
    parameters = dict(django_connection.get_connection_params())
    for name in ("pool", "context", "cursor_factory"):
        parameters.pop(name, None)
    options = (
        f"{parameters.pop('options', '')} -c statement_timeout=3000 -c application_name=countersign-keeper"
    )
    return psycopg.connect(**parameters, autocommit=True, options=options.strip())
