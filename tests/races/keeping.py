"""A keeper without processes: its board, a pump that is not running, and children that only note what they are told."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from runs.engine.types import Claimed
from runs.leases import Terms
from runs.node.board import Board
from runs.node.children import Entry
from runs.node.clock import boot
from runs.node.keeper import Keeper
from runs.node.pump import Pump


class Link:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.waiting = bytearray()

    def send(self, message: Any) -> bool:
        self.sent.append(message)
        return False


class Child:
    """What main knows of a child that does as it is told."""

    def __init__(self, kind: str = "io") -> None:
        self.kind, self.slots, self.pid, self.id = kind, 100, 0, uuid.uuid4()
        self.ready, self.leaving, self.dead, self.killed = True, False, False, False
        self.rests_until = 0.0
        self.inflight: dict[uuid.UUID, Entry] = {}
        self.link = Link()

    def free(self) -> int:
        return self.slots - len(self.inflight)

    def kill(self) -> None:
        self.killed = True

    def told(self, word: str) -> list[Any]:
        return [row for message in self.link.sent for row in message.get(word, ())]


class Watch:
    """Nobody is watched."""

    def look(self, db: Any) -> None: ...


def keeper(worker_id: uuid.UUID, claimed: Sequence[Claimed], terms: Terms, kind: str = "io") -> Keeper:
    """One that holds these steps in one child: ``keeper.board.children[0]``."""
    board = Board(worker_id, terms, {kind: 100})
    board.children.append(Child(kind))  # type: ignore[arg-type]
    board.hand_out(claimed)
    pump = Pump(board, pools={kind: (1, 100)}, lock=0, environment={})
    pump.selector.close()
    return Keeper(board, pump, Watch())  # type: ignore[arg-type]


def entry_of(keeper: Keeper) -> Entry:
    (found,) = keeper.board.children[0].inflight.values()
    return found


def due_now(keeper: Keeper) -> Entry:
    entry = entry_of(keeper)
    entry.renew_at = boot()
    return entry
