"""The watch over peers: nodes on this host whose last process died give up their leases at once.

A node and all its children hold one file lock; the last of them to die lets it go. Whoever then gets it knows that nobody
of them can still send. One thread per peer waits for that, without polling.
"""

import contextlib
import fcntl
import logging
import threading
import uuid
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection as django_connection
from django.db import transaction

from runs.engine.reclaim import release
from runs.node.board import Board
from tools import workers

log = logging.getLogger(__name__)

_PEERS = """SELECT id, lockfile FROM tools_workerprocess
WHERE boot_id = %(boot)s AND kind = 'main' AND stopped_at IS NULL AND id <> %(worker)s AND lockfile <> ''"""


class Watch:
    """``boot_id`` names this start of the machine: a lock proves nothing about another one."""

    def __init__(self, board: Board, *, boot_id: str) -> None:
        self.board, self.boot_id = board, boot_id
        self.watched: set[uuid.UUID] = set()

    def look(self, db: psycopg.Connection[Any]) -> None:
        """Starts a thread for each peer that is new."""
        for peer, lockfile in db.execute(_PEERS, {"boot": self.boot_id, "worker": self.board.worker_id}):
            if peer not in self.watched:
                self.watched.add(peer)
                threading.Thread(
                    target=self._wait, args=(peer, Path(lockfile)), name="watch", daemon=True
                ).start()

    def _wait(self, peer: uuid.UUID, lockfile: Path) -> None:
        try:
            with lockfile.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                self._gone(peer)
        except FileNotFoundError:
            # It ended cleanly, or it lives in another container of this machine: a missing file proves nothing.
            return
        except Exception:
            # Its leases then end by themselves.
            log.exception("the death of node %s could not be recorded", peer)
            self.watched.discard(peer)
        else:
            with contextlib.suppress(OSError):
                lockfile.unlink()
        finally:
            django_connection.close()
        self.board.wake()

    def _gone(self, peer: uuid.UUID) -> None:
        """Should the release fail, the poll of every node makes up for it: the proof is recorded."""
        with transaction.atomic(durable=True):
            won = workers.gone(worker_id=peer, how="lock")
        taken = release(worker_id=peer)
        if won:
            log.warning("node %s is gone with all its processes; %d steps are free again", peer, taken)
