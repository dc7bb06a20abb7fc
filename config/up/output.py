"""One line a time from many children to one terminal, which may be slow, gone, or nobody at all."""

from __future__ import annotations

import os
import select
import sys
from collections import deque

# A pipe that reports itself writable takes this much without blocking (POSIX PIPE_BUF on Linux).
_CHUNK = 4096
_WAITING_LIMIT = 1 << 20
_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
_NAME_WIDTH = 11


class Output:
    """Prefixes, colours, and never blocks: when nobody reads, old log lines are dropped and counted."""

    def __init__(self, fd: int | None = None) -> None:
        self._fd = sys.stdout.fileno() if fd is None else fd
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._bytes = 0
        self._dropped = 0
        self._closed = False
        self.colours = _wants_colours(self._fd)
        self._seen: dict[str, int] = {}

    def line(self, name: str, text: str) -> None:
        """A log line of `name`."""
        prefix = f"{name:<{_NAME_WIDTH}}| "
        if self.colours:
            colour = self._seen.setdefault(name, _COLOURS[len(self._seen) % len(_COLOURS)])
            prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
        self._add(f"{prefix}{text}\n".encode(errors="replace"), keep=False)

    def bare(self, text: str) -> None:
        """A line for programs that read us; it is never dropped."""
        self._add(f"{text}\n".encode(), keep=True)

    def _add(self, data: bytes, *, keep: bool) -> None:
        self._waiting.append((data, keep))
        self._bytes += len(data)
        self.flush()
        while self._bytes > _WAITING_LIMIT and (victim := self._oldest_log()) is not None:
            self._bytes -= len(self._waiting[victim][0])
            del self._waiting[victim]
            self._dropped += 1

    def _oldest_log(self) -> int | None:
        return next((n for n, (_, keep) in enumerate(self._waiting) if not keep), None)

    def flush(self) -> None:
        """Write what can be written at once."""
        if self._dropped and self._writable():
            note = (
                f"{'up':<{_NAME_WIDTH}}| {self._dropped} log lines were dropped: nobody read them\n".encode()
            )
            self._dropped = 0
            self._waiting.appendleft((note, False))
            self._bytes += len(note)
        while self._waiting and self._writable():
            data, keep = self._waiting.popleft()
            self._bytes -= len(data)
            rest = data[self._write(data[:_CHUNK]) :]
            if rest:
                self._waiting.appendleft((rest, keep))
                self._bytes += len(rest)

    def _writable(self) -> bool:
        if self._closed:
            self._waiting.clear()
            self._bytes = self._dropped = 0
            return False
        return bool(select.select([], [self._fd], [], 0)[1])

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._fd, data)
        except OSError:
            # The terminal is gone. The house goes on; the hang-up signal, if any, decides otherwise.
            self._closed = True
            return len(data)


def _wants_colours(fd: int) -> bool:
    if "NO_COLOR" in os.environ:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or os.isatty(fd)
