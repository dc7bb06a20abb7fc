"""What the threads of a node's main process share, under one lock that is never held while anything could block."""

import contextlib
import os
import threading
import uuid
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.engine.types import Claimed, Outcome
from runs.leases import Terms
from runs.node.children import Child, Entry
from runs.node.clock import boot
from runs.node.leash import Leash
from runs.node.work import item


@dataclass(slots=True)
class Question:
    """A child asks to begin an effect. ``tries``: begin failed so often; ``not_before``: when to try again."""

    child: Child
    entry: Entry
    tries: int = 0
    not_before: float = 0.0


@dataclass(slots=True)
class Pending:
    """An outcome on its way into the database."""

    outcome: Outcome
    tries: int = 0
    not_before: float = 0.0


@dataclass
class Board:
    """The state of a node. ``lock`` guards everything; whoever adds work notifies it.

    ``pools``: places by kind, of which one tenant may have ``most``.

    ``draining``: nothing new is claimed · ``stopped``: threads end · ``decided``: somebody answered a question ·
    ``freed``: a resource is free · ``suspect``: an answer of the database was lost, so steps may be ours without our
    knowing · ``pumped_at``: when the pump last went round · ``heard_at``: when the database last answered the keeper ·
    ``work``: somebody rang, or a commit left something to claim · ``backlog``: pools whose last claim took all they had
    room for.
    """

    worker_id: uuid.UUID
    terms: Terms
    pools: dict[str, int]
    most: dict[str, int] = field(default_factory=dict)
    batch: int = 100
    lock: threading.Condition = field(default_factory=threading.Condition)
    children: list[Child] = field(default_factory=list)
    results: deque[Pending] = field(default_factory=deque)
    later: list[Pending] = field(default_factory=list)
    questions: deque[Question] = field(default_factory=deque)
    buried: deque[Child] = field(default_factory=deque)
    busy: int = 0
    calls: dict[int, float] = field(default_factory=dict)
    work: bool = True
    backlog: set[str] = field(default_factory=set)
    decided: bool = False
    freed: bool = False
    draining: bool = False
    stopped: bool = False
    suspect: bool = False
    claimed_at: float = 0.0
    rung_at: float = 0.0
    pumped_at: float = field(default_factory=boot)
    heard_at: float = field(default_factory=boot)
    leash: Leash = field(default_factory=Leash)

    def __post_init__(self) -> None:
        self.reserved = dict.fromkeys(self.pools, 0)
        #: Wakes the pump.
        self.nudge = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    @property
    def kept(self) -> dict[str, int]:
        """Places of each pool that no tenant fills alone."""
        return {kind: places - self.most.get(kind, places) for kind, places in self.pools.items()}

    def wake(self) -> None:
        """There may be something to claim. Many wake-ups are one."""
        with self.lock:
            self.work = True
            self.lock.notify()

    @property
    def deaf(self) -> bool:
        """The keeper has no answer, so what would be claimed now could not be renewed: nothing is claimed."""
        return boot() - self.heard_at > self.terms.lease / 3 + self.terms.tick

    def nudge_pump(self) -> None:
        os.eventfd_write(self.nudge, 1)

    def report(self, outcome: Outcome) -> None:
        """Caller holds the lock."""
        self.results.append(Pending(outcome))
        self.lock.notify()

    @contextlib.contextmanager
    def room(self) -> Iterator[dict[str, int]]:
        """The free places per pool, reserved while an engine thread asks the database for steps to fill them."""
        with self.lock:
            free = {} if self.draining or self.deaf else self._free()
            for kind, count in free.items():
                self.reserved[kind] += count
            self.calls[threading.get_ident()] = boot()
        try:
            yield free
        finally:
            with self.lock:
                for kind, count in free.items():
                    self.reserved[kind] -= count
                self.calls.pop(threading.get_ident(), None)

    def note_claim(self, room: Mapping[str, int], claimed: Sequence[Claimed]) -> bool:
        """Remembers which pools may have more to claim; true when that is worth asking at once."""
        taken = Counter(step.pool for step in claimed)
        with self.lock:
            full = {kind for kind, count in room.items() if taken[kind] == count}
            self.backlog = {kind for kind in self.pools if kind not in room} | full
        return bool(full)

    def wants_claim(self) -> bool:
        """Whether places have become free in a pool that may have more to claim."""
        with self.lock:
            return bool(self.backlog) and not self.backlog.isdisjoint(self._free())

    def _free(self) -> dict[str, int]:
        free = {}
        for kind, reserved in self.reserved.items():
            places = sum(child.free() for child in self.children if child.kind == kind) - reserved
            if places > 0:
                free[kind] = min(places, self.batch)
        return free

    def hand_out(self, claimed: Sequence[Claimed]) -> None:
        """Sends claimed steps to the children with the most room. Call it inside :meth:`room`."""
        frames: dict[Child, list[Any]] = {}
        with self.lock:
            if claimed:
                self.claimed_at = boot()
            for step in claimed:
                child = self._roomiest(step.pool)
                if child is None:
                    self.report(
                        Outcome(step, "drained", error_code="no_child", error_text="No child could take it.")
                    )
                    continue
                now = boot()
                renew_at = self.terms.next_renewal(now, step.sent)
                child.inflight[step.step_id] = Entry(step, step.sent, renew_at, now + step.timeout_seconds)
                frames.setdefault(child, []).append(item(step, terms=self.terms))
        for child, items in frames.items():
            self.send(child, {"run": items})

    def _roomiest(self, kind: str) -> Child | None:
        found = [child for child in self.children if child.kind == kind and child.free() > 0]
        return max(found, key=Child.free, default=None)

    def send(self, child: Child, message: Any) -> None:
        """Never blocks: what the kernel does not take now, the pump writes later."""
        if child.link.send(message):
            self.nudge_pump()

    def held(self) -> int:
        """Steps that are not yet recorded."""
        with self.lock:
            waiting = len(self.results) + len(self.later) + self.busy
            return waiting + sum(not e.abandoned for child in self.children for e in child.inflight.values())

    def holds(self) -> set[tuple[uuid.UUID, int]]:
        """(step, fence) of everything that this process knows to be its own."""
        with self.lock:
            known = {(e.claimed.step_id, e.claimed.fence) for c in self.children for e in c.inflight.values()}
            for pending in (*self.results, *self.later):
                known.add((pending.outcome.claimed.step_id, pending.outcome.claimed.fence))
            return known
