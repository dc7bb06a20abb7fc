"""An end to waiting for a server that neither answers nor hangs up (B36, B40).

A connection can be half open: packets are dropped, or a proxy swallows them, and no error ever comes. Time-outs of the
server do not help then. The keeper holds the leash while it waits; the pump looks at it and shuts the socket, which the
keeper sees as a lost connection.
"""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import psycopg

from runs.node.clock import boot


class Leash:
    """Held by one thread at a time; :meth:`look` may be called from any other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[socket.socket, float] | None = None

    @contextlib.contextmanager
    def hold(self, db: psycopg.Connection[Any], seconds: float) -> Iterator[None]:
        """What is asked of ``db`` inside is answered within ``seconds``, or raises ``psycopg.OperationalError``."""
        # A second handle on the same socket: should the connection be closed meanwhile, its number belongs to nobody else.
        with socket.socket(fileno=os.dup(db.fileno())) as sock:
            with self._lock:
                self._held = (sock, boot() + seconds)
            try:
                yield
            finally:
                with self._lock:
                    self._held = None

    def look(self) -> None:
        """Ends a wait that is over."""
        with self._lock:
            if self._held is not None and boot() >= self._held[1]:
                with contextlib.suppress(OSError):
                    self._held[0].shutdown(socket.SHUT_RDWR)
