"""Two transactions that really overlap: one stops at a seam before its commit, with all its locks, while the other runs into
it on a connection of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
from django.db import connection

from tests.races.waiting import WAITING

Act = Callable[[], Any]


class Seams(Mapping[str, Any]):
    """Stands in for the armed failpoints of this process. Nothing is armed; but the one thread that is being held stops at
    the first seam inside its transaction until it is let go."""

    def __init__(self) -> None:
        self._held: int | None = None
        self._arrived, self._go = threading.Event(), threading.Event()

    def __contains__(self, name: object) -> bool:
        inside = str(name).endswith(".before_commit") or name == "claim.after_select"
        if inside and threading.get_ident() == self._held:
            self._held = None
            self._arrived.set()
            self._go.wait(30)
        return False

    def __getitem__(self, name: str) -> Any:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 1

    def hold(self, act: Act) -> Any:
        """Does it in this thread, stopping inside its transaction."""
        self._held = threading.get_ident()
        try:
            return act()
        finally:
            self._held = None
            self._arrived.set()

    def ready(self) -> None:
        self._arrived.clear()
        self._go.clear()

    def arrived(self) -> None:
        assert self._arrived.wait(30), "it neither stopped at a seam nor ended"

    def let_go(self) -> None:
        self._go.set()


class Pair:
    """Two threads with a connection each. ``blocked`` counts how often one waited for the other."""

    def __init__(self, seams: Seams, observer: psycopg.Connection[Any]) -> None:
        self._seams, self._observer = seams, observer
        self._threads = (ThreadPoolExecutor(1), ThreadPoolExecutor(1))
        self.blocked = 0

    def race(self, first: Act, second: Act) -> None:
        """``first`` stops before its commit; ``second`` runs until it has ended or waits for a lock; then both go on. Their
        errors are ours."""
        self._seams.ready()
        one = self._threads[0].submit(self._seams.hold, first)
        try:
            self._seams.arrived()
            two = self._threads[1].submit(second)
            self._until_blocked(two)
        finally:
            self._seams.let_go()
        one.result(60)
        two.result(60)

    def _until_blocked(self, running: Future[Any]) -> None:
        end = time.monotonic() + 5
        while not running.done() and time.monotonic() < end:
            row = self._observer.execute(WAITING).fetchone()
            if row and row[0]:
                self.blocked += 1
                return
            time.sleep(0.002)

    def close(self) -> None:
        for thread in self._threads:
            thread.submit(_close).result(10)
            thread.shutdown()


def _close() -> None:
    """The connection of this thread."""
    connection.close()
