"""What a child had to say when author code stopped it: reports of ended steps lie in memory that main shares while the agent
is asked what comes next. A child that hangs there and is ended has lost none of them, and main knows whose agent it was.
Both sides; no system call on the way.

Layout: four bytes length of the rows, four bytes one more than the place of the row whose agent is asked (0: none), the
rows as JSON.
"""

import mmap
import os
from collections.abc import Sequence
from typing import Any

import orjson

SIZE = 4 << 20
_HEAD = 8


class LastWords:
    """The shared memory behind a descriptor, which stays open in the child alone."""

    def __init__(self, descriptor: int) -> None:
        self.memory = mmap.mmap(descriptor, SIZE)

    def keep(self, rows: Sequence[list[Any]]) -> None:
        """In the child, before agents are asked. What is too large is not kept: its steps run again."""
        body = orjson.dumps(rows)
        size = len(body) if len(body) <= SIZE - _HEAD else 0
        self.memory[:_HEAD] = bytes(_HEAD)
        self.memory[_HEAD : _HEAD + size] = body[:size]
        self.memory[:4] = size.to_bytes(4, "little")

    def asking(self, place: int) -> None:
        """The agent of the row at this place is asked."""
        self.memory[4:_HEAD] = (place + 1).to_bytes(4, "little")

    def clear(self) -> None:
        """Everything has been sent."""
        self.memory[:_HEAD] = bytes(_HEAD)

    def read(self) -> tuple[list[list[Any]], int]:
        """In main, after the child's death: its reports, and the place of the one whose agent never answered, or -1."""
        size, place = (int.from_bytes(self.memory[at : at + 4], "little") for at in (0, 4))
        if not 0 < size <= SIZE - _HEAD:
            return [], -1
        try:
            return orjson.loads(self.memory[_HEAD : _HEAD + size]), place - 1
        except orjson.JSONDecodeError:
            return [], -1

    def close(self) -> None:
        self.memory.close()


def make() -> int:
    """A descriptor for a new child. The caller closes it."""
    descriptor = os.memfd_create("last-words", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, SIZE)
    return descriptor
