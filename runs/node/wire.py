"""Frames between a node's main process and its children: four bytes of length, then JSON. Both sides.

Down: ``{"run": [item…]}`` (see `work`) · ``{"stop": [[step, fence, why]…]}`` · ``{"reply": [[step, fence, {…}]…]}`` ·
``{"lease": [[step, fence, until]…]}``.
Up: ``{"hello": pid}`` · ``{"done": [report…]}`` · ``{"begin": [[step, fence]…]}`` · ``{"ack": [[step, fence]…]}`` ·
``{"progress": [[step, fence]…]}`` · ``"bye": true`` beside ``done`` when the child ends after this frame.
"""

import socket
import threading
from typing import Any

import orjson

MAX_FRAME = 128_000_000
READ = 1 << 18
_HEAD = 4


class BrokenFrame(Exception):
    """The other side speaks another language: it is ended."""


def pack(message: Any) -> bytes:
    """One frame. UUIDs and dataclasses are written as orjson has them."""
    body = orjson.dumps(message)
    return len(body).to_bytes(_HEAD, "big") + body


def unpack(buffer: bytearray) -> list[Any]:
    """Takes every whole frame out of the buffer. Raises :class:`BrokenFrame`."""
    messages: list[Any] = []
    at = 0
    with memoryview(buffer) as view:
        while len(buffer) - at >= _HEAD:
            size = int.from_bytes(view[at : at + _HEAD], "big")
            if size > MAX_FRAME:
                raise BrokenFrame(f"A frame of {size} bytes.")
            if len(buffer) - at - _HEAD < size:
                break
            try:
                messages.append(orjson.loads(view[at + _HEAD : at + _HEAD + size]))
            except orjson.JSONDecodeError as error:
                raise BrokenFrame(str(error)) from error
            at += _HEAD + size
    del buffer[:at]
    return messages


class Link:
    """Main's end of a child's socket. Sending never blocks: a child that does not read must not stop a commit."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.incoming = bytearray()
        self.waiting = bytearray()
        self._lock = threading.Lock()
        sock.setblocking(False)

    def send(self, message: Any) -> bool:
        """True when something is left for the pump to write later."""
        frame = pack(message)
        with self._lock:
            self.waiting += frame
            return self._flush()

    def flush(self) -> bool:
        """Writes what the kernel takes; True when something is left."""
        with self._lock:
            return self._flush()

    def _flush(self) -> bool:
        try:
            while self.waiting:
                del self.waiting[: self.sock.send(self.waiting)]
        except BlockingIOError:
            return True
        except OSError:
            # The child is gone; the pump learns it from the process itself.
            self.waiting.clear()
        return False

    def receive(self, *, to_the_end: bool = False) -> tuple[list[Any], bool]:
        """Whole messages at hand, and whether the other end is closed. Usually one read: if there is more, the selector
        says so again; ``to_the_end`` is for a child that is dead. Raises :class:`BrokenFrame`."""
        closed = False
        try:
            while True:
                data = self.sock.recv(READ)
                self.incoming += data
                closed = not data
                if closed or not to_the_end:
                    break
        except BlockingIOError:
            pass
        except OSError:
            closed = True
        return unpack(self.incoming), closed
