"""Deliveries in an append-only file: one JSON line each, on the disk before the sender hears 250."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class Delivery:
    """`number` counts from 1 in order of arrival; `data` is the message as it came, base64."""

    number: int
    at: str
    peer: str
    sender: str
    recipients: tuple[str, ...]
    data: str

    @property
    def raw(self) -> bytes:
        return base64.b64decode(self.data)

    @property
    def arrived(self) -> datetime:
        return datetime.fromisoformat(self.at)


def _delivery(line: bytes) -> Delivery:
    row = json.loads(line)
    return Delivery(**{**row, "recipients": tuple(row["recipients"])})


class Store:
    """Thread-safe. A line that a crash cut off was never answered, so it is dropped at the next start."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._deliveries = [_delivery(line) for line in self._whole_lines(path)]

    def _whole_lines(self, path: Path) -> list[bytes]:
        content = path.read_bytes()
        end = content.rfind(b"\n") + 1
        os.ftruncate(self._fd, end)
        os.fsync(self._fd)
        return content[:end].splitlines()

    def append(self, *, peer: str, sender: str, recipients: Sequence[str], raw: bytes) -> Delivery:
        """Keep one delivery; when this returns it survives a crash. Raises OSError when the disk refuses."""
        with self._lock:
            delivery = Delivery(
                number=len(self._deliveries) + 1,
                at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                peer=peer,
                sender=sender,
                recipients=tuple(recipients),
                data=base64.b64encode(raw).decode(),
            )
            line = json.dumps(asdict(delivery)).encode() + b"\n"
            before = os.fstat(self._fd).st_size
            try:
                if os.write(self._fd, line) != len(line):
                    raise OSError("the disk took only part of the message")
                os.fsync(self._fd)
            except OSError:
                # The sender hears a failure, so the line must not be there the next time.
                os.ftruncate(self._fd, before)
                raise
            self._deliveries.append(delivery)
            return delivery

    def all(self) -> list[Delivery]:
        with self._lock:
            return list(self._deliveries)

    def close(self) -> None:
        os.close(self._fd)
