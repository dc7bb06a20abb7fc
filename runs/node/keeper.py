"""The keeper: renews leases, hears which runs want to stop, says that the node lives. A thread with a connection of its
own, so that nothing the engine waits for can delay a renewal (L4, L19).

What it does not renew ends: a step past every limit of its own, and all steps of a node whose pump stands still (B37).
"""

import logging
import random
import threading
import uuid
from typing import Any

import psycopg
from django.db import connection as django_connection

from outbox.bell import CHANNEL, DECIDED, FREED, READY
from runs.engine.renew import renew, standing
from runs.node.board import Board
from runs.node.children import Child, Entry
from runs.node.clock import boot
from runs.node.measures import Measures
from runs.node.pump import Pump
from runs.node.watch import Watch

log = logging.getLogger(__name__)

#: After so many errors in a row it is said in the log.
SAID_AFTER = 3
#: Between tries to connect again, in seconds.
AGAIN_AFTER = 0.2
#: A pump that has not gone round for a whole lease, seen at so many looks in a row, stands still.
STUCK_LOOKS = 5
_SEEN = """UPDATE tools_workerprocess
SET last_seen_at = clock_timestamp(), draining = %(draining)s,
    last_claim_at = CASE WHEN %(claimed)s THEN clock_timestamp() ELSE last_claim_at END,
    last_bell_at = CASE WHEN %(rung)s THEN clock_timestamp() ELSE last_bell_at END
WHERE id = %(worker)s AND stopped_at IS NULL"""

Held = list[tuple[Child, Entry]]


class Gone(Exception):
    """Somebody recorded that this process is gone: it must not go on."""


class Stuck(Exception):
    """The pump stands still: its children are not looked after, so the node must not keep their leases."""


class Keeper:
    """Looks every ``board.terms.tick`` seconds."""

    def __init__(self, board: Board, pump: Pump, watch: Watch) -> None:
        self.board, self.pump, self.watch, self.terms = board, pump, watch, board.terms
        self.measures = Measures(board)
        self.failures = 0
        self.stuck = 0
        self.seen_claim = self.seen_bell = 0.0

    @property
    def patience(self) -> float:
        """How long one answer may take: a third of a lease, so that a renewal that hangs can be tried again."""
        return self.terms.lease / 3

    def run(self) -> None:
        """The thread. A lost connection is made again; a node that was recorded as gone ends."""
        while not self.board.stopped:
            try:
                with connect(self.patience) as db:
                    with self.board.leash.hold(db, self.patience):
                        db.execute(f"LISTEN {CHANNEL}")
                    self._keep(db)
            except psycopg.Error as error:
                self._failed(error)
                threading.Event().wait(AGAIN_AFTER)

    def _keep(self, db: psycopg.Connection[Any]) -> None:
        due = boot()
        while not self.board.stopped:
            # Woken by the bell, or when the next look is due.
            asked = False
            for heard in db.notifies(timeout=max(0.0, due - boot()), stop_after=1):
                asked = self._heard(heard.payload) or asked
            if not asked and boot() < due:
                continue
            with self.board.leash.hold(db, self.patience):
                if boot() >= due:
                    self.measures.note("pause", boot() - due)
                    due = max(due, boot() - self.terms.tick) + self.terms.tick * random.uniform(0.8, 1.0)
                    self._tick(db)
                self._look(db)
            self._answered()
        self.measures.flush(db, now=True)

    def _heard(self, word: str) -> bool:
        """Passes on what the bell said; True when a run wants to stop."""
        if word not in (READY, DECIDED, FREED):
            return True
        with self.board.lock:
            self.board.decided = self.board.decided or word == DECIDED
            self.board.freed = self.board.freed or word == FREED
            self.board.work = True
            self.board.lock.notify()
        return False

    def _tick(self, db: psycopg.Connection[Any]) -> None:
        # The local deadline counts from before the question was sent (B36).
        sent = boot()
        self._watch_pump(sent)
        due = self._due(sent)
        leases = [(entry.claimed.step_id, entry.claimed.fence) for _, entry in due]
        kept = renew(db, worker_id=self.board.worker_id, leases=leases, seconds=self.terms.lease)
        if due:
            self.measures.note("renewal", boot() - sent)
        self._prolong([(child, entry) for child, entry in due if entry.claimed.step_id in kept], sent)
        claimed = self.board.claimed_at > self.seen_claim
        self.seen_claim = self.board.claimed_at
        rung = self.board.rung_at > self.seen_bell
        self.seen_bell = self.board.rung_at
        now = {"draining": self.board.draining, "claimed": claimed, "rung": rung}
        seen = db.execute(_SEEN, {"worker": self.board.worker_id, **now})
        if seen.rowcount != 1 and not self.board.stopped:
            raise Gone("This node was recorded as gone while it still ran: it ends.")
        self.measures.flush(db)
        self.watch.look(db)

    # Which leases

    def _held(self) -> Held:
        with self.board.lock:
            return [(c, e) for c in self.board.children for e in c.inflight.values() if not e.abandoned]

    def _due(self, now: float, *, look: float | None = None) -> Held:
        """Those to renew. A step past the last moment of its time only breathes: its lease ends (B37)."""
        return [
            (child, entry)
            for child, entry in self._held()
            if self.terms.due(now, entry.renew_at, look=look)
            and entry.why != "lost"
            and now < entry.last_breath
        ]

    def _prolong(self, kept: Held, sent: float) -> None:
        told: dict[Child, list[list[Any]]] = {}
        answered = boot()
        with self.board.lock:
            for child, entry in kept:
                self.measures.note("left", entry.renewed + self.terms.lease - answered)
                entry.renewed, entry.failed = sent, 0
                entry.renew_at = self.terms.next_renewal(answered, sent)
                until = self.terms.local_deadline(sent)
                told.setdefault(child, []).append([entry.claimed.step_id, entry.claimed.fence, until])
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

    # When it does not work

    def _failed(self, error: psycopg.Error) -> None:
        """No answer. Renewals that were due have failed, and are tried again after a part of what remains; after too many
        in a row the step is stopped here, before somebody else may have it (L4, B35)."""
        self.failures += 1
        if self.failures == SAID_AFTER:
            log.error("leases cannot be renewed (%s): nothing new is claimed until they can", error)
        now = boot()
        due = self._due(now, look=AGAIN_AFTER)
        with self.board.lock:
            for _, entry in due:
                entry.failed += 1
                entry.renew_at = self.terms.next_renewal(now, entry.renewed, look=AGAIN_AFTER)
        if due:
            self.measures.note("failed", 0.0)
        for child, entry in due:
            if entry.failed >= self.terms.failures:
                log.warning("step %s is stopped: %d renewals failed", entry.claimed.step_id, entry.failed)
                self.pump.stop(child, entry, "lost")

    def _answered(self) -> None:
        now = boot()
        was_deaf, self.board.heard_at = self.board.deaf, now
        if self.failures >= SAID_AFTER:
            log.info("leases can be renewed again")
        if not self.failures and not was_deaf:
            return
        self.failures = 0
        with self.board.lock:
            for child in self.board.children:
                for entry in child.inflight.values():
                    # What failed before is renewed at the next look, not after its pause.
                    entry.renew_at = now if entry.failed else entry.renew_at
            self.board.work = True
            self.board.lock.notify_all()

    def _watch_pump(self, now: float) -> None:
        """Looks in a row, because a process that stood still as a whole goes on in any order."""
        self.stuck = self.stuck + 1 if now - self.board.pumped_at > self.terms.lease else 0
        if self.stuck >= STUCK_LOOKS:
            raise Stuck(f"The pump has not gone round for {now - self.board.pumped_at:.0f} s: the node ends.")


def connect(patience: float) -> psycopg.Connection[Any]:
    """A connection apart from Django's, in autocommit, whose statements cannot hang for ever: the server ends them after 3
    seconds, and what the network swallows is noticed after ``patience`` seconds."""
    parameters = dict(django_connection.get_connection_params())
    for name in ("pool", "context", "cursor_factory"):
        parameters.pop(name, None)
    options = (
        f"{parameters.pop('options', '')} -c statement_timeout=3000 -c application_name=countersign-keeper"
    )
    # libpq knows no shorter connect_timeout than 2 s.
    parameters["connect_timeout"] = max(2, round(patience))
    parameters["tcp_user_timeout"] = max(1000, round(patience * 1000))
    return psycopg.connect(**parameters, autocommit=True, options=options.strip())
