"""A node: its threads put together, its start, its drain and its end."""

import contextlib
import fcntl
import gc
import logging
import os
import socket
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from accounts.failpoints import fp
from accounts.ids import new_id
from runs.agents import registry
from runs.checks import require_sound
from runs.engine.fairness import KEPT
from runs.leases import Terms
from runs.node.board import Board
from runs.node.children import environment
from runs.node.clock import boot
from runs.node.engine_threads import Engine
from runs.node.hints import Hints
from runs.node.keeper import Keeper
from runs.node.origin import Watched
from runs.node.pump import Pump
from runs.node.watch import Watch
from tools import workers

log = logging.getLogger(__name__)

ENGINE_THREADS = 2
#: What may be left once the grace of a drain is over: until told to stop, then until killed.
LET_GO, DIE = 0.5, 3.0
EXIT_BROKEN = 70


class Node:
    """One per process. ``options`` are the engine's settings (`config.engine_env`)."""

    def __init__(self, options: Any = None) -> None:
        self.options = options or settings.COUNTERSIGN
        require_sound(self.options)
        self.boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        self.lockfile = self._lock_path()
        # Main and all its children hold this lock; the last of them to die lets it go.
        self.lock = os.open(self.lockfile, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        host = socket.gethostname()
        with transaction.atomic(durable=True):
            row = workers.register(
                kind="main",
                node=f"{host}:{os.getpid()}",
                host=host,
                boot_id=self.boot_id,
                pid=os.getpid(),
                lockfile=str(self.lockfile),
                agents=registry.digests(),
            )
        connection.close()
        listed = self.options.pool_list
        pools = {pool.kind: (pool.processes, pool.slots + pool.slots // KEPT) for pool in listed}
        self.board = Board(
            row.pk,
            Terms.of(self.options),
            {kind: count * slots for kind, (count, slots) in pools.items()},
            most={pool.kind: pool.processes * pool.slots for pool in listed},
            batch=self.options.claim_batch,
        )
        self.hints = Hints()
        self.pump = Pump(self.board, pools=pools, lock=self.lock, environment=environment(settings.DATA_DIR))
        self.origin = Watched(Path(settings.DATA_DIR))
        self.engine = Engine(self.board, self.hints, self.origin, poll=self.options.poll_seconds)
        self.watch = Watch(self.board, boot_id=self.boot_id)
        self.keeper = Keeper(self.board, self.pump, self.watch)
        self.threads: list[threading.Thread] = []

    @staticmethod
    def _lock_path() -> Path:
        folder = Path(settings.DATA_DIR) / "nodes"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / f"{new_id().hex}.lock"

    def start(self) -> None:
        """Starts all threads. From here on an uncaught error in one of them ends the process."""
        parts: list[tuple[str, Callable[[], None]]] = [("pump", self.pump.run), ("keeper", self.keeper.run)]
        parts += [(f"engine-{number}", self.engine.run) for number in range(ENGINE_THREADS)]
        parts.append(("hints", self.hints.run))
        # Before the first claim: a database that was set back gives out nothing.
        self.origin.look()
        connection.close()
        settle_memory()
        for name, target in parts:
            thread = threading.Thread(target=guard, args=(target,), name=name, daemon=True)
            self.threads.append(thread)
            thread.start()
        log.info("node %s is up: %s", self.board.worker_id, self.options.pools)

    def wake(self) -> None:
        """There may be work: somebody rang through the broker."""
        self.board.rung_at = boot()
        self.board.wake()

    def drain(self) -> None:
        """Nothing new is claimed; what runs may end within the grace, the rest is given back, and all leases are free."""
        with self.board.lock:
            self.board.draining = True
        fp("shutdown.grace")
        self._wait_empty(self.options.drain_seconds)
        with self.board.lock:
            held = [(child, entry) for child in self.board.children for entry in child.inflight.values()]
        for child, entry in held:
            self.pump.stop(child, entry, "drain")
        self._wait_empty(LET_GO)
        with self.board.lock:
            children = list(self.board.children)
        for child in children:
            child.kill()
        self._wait_empty(DIE)
        self._end()

    def _wait_empty(self, seconds: float) -> None:
        end = boot() + seconds
        pause = threading.Event()
        while self.board.held() and boot() < end:
            pause.wait(0.01)

    def _end(self) -> None:
        with self.board.lock:
            self.board.stopped = True
            self.board.lock.notify_all()
        self.board.nudge_pump()
        self.hints.stop()
        for thread in self.threads:
            thread.join(3)
        alive = [thread.name for thread in self.threads if thread.is_alive()]
        if alive:
            log.warning(
                "node %s ends although %s did not: its lock tells the others", self.board.worker_id, alive
            )
            return
        with contextlib.suppress(Exception), transaction.atomic(durable=True):
            workers.gone(worker_id=self.board.worker_id, how="clean")
        connection.close()
        with contextlib.suppress(OSError):
            self.lockfile.unlink()
        log.info("node %s has stopped", self.board.worker_id)


def settle_memory() -> None:
    """What was imported stays for good: the collector need not walk it again and again, and looks for rings seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def guard(target: Callable[[], None]) -> None:
    """A node with a dead thread is worse than a dead node: its leases would go on, or its results pile up."""
    try:
        target()
    except BaseException:  # noqa: BLE001 - nothing may be swallowed here
        traceback.print_exc()
        os._exit(EXIT_BROKEN)
