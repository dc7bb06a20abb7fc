"""The far side of the SQL adapter: a real PostgreSQL, reached through a proxy that counts the questions on the wire and
misbehaves on demand."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.adapters.far_sides import reset

#: Stands in every question of the suite, so that the proxy knows it among what else is said.
MARK = b"/* question of the suite */"
READER = "suite_reader"
WRITER = "suite_writer"
_MAKE = f"""
CREATE TABLE orders (id bigint PRIMARY KEY, customer text, total numeric, placed timestamptz);
INSERT INTO orders VALUES (1, 'Ann', 12.50, '2026-11-30 08:00+00'), (2, 'Ben', 0.10, '2026-12-01 09:30+00');
GRANT SELECT ON orders TO {READER}; GRANT SELECT, INSERT ON orders TO {WRITER};
"""


class Database:
    """A database of its own with a role that reads and one that also writes."""

    def __init__(self) -> None:
        base = urlsplit(os.environ["DATABASE_URL"])
        self.name = f"suite_sql_{os.getpid()}"
        self._admin = urlunsplit(base)
        self.owner = urlunsplit(base._replace(path=f"/{self.name}"))
        self.host, self.port = base.hostname or "", base.port or 5432
        with psycopg.connect(self._admin, autocommit=True) as db:
            db.execute(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')
            db.execute(f'CREATE DATABASE "{self.name}"')
            for role in (READER, WRITER):
                db.execute(
                    f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD 'p:w @'; EXCEPTION WHEN duplicate_object THEN END $$"
                )
        with psycopg.connect(self.owner, autocommit=True) as db:
            db.execute(_MAKE)

    def address(
        self, port: int, *, user: str = READER, host: str = "127.0.0.1", mode: str = "disable"
    ) -> str:
        return f"postgresql://{user}:p%3Aw%20%40@{host}:{port}/{self.name}?sslmode={mode}"

    def drop(self) -> None:
        with psycopg.connect(self._admin, autocommit=True) as db:
            db.execute(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')
            for role in (READER, WRITER):
                with contextlib.suppress(psycopg.Error):
                    db.execute(f"DROP ROLE {role}")


class Proxy:
    """Carries bytes to and fro. ``asked``: how often a question of the suite went past."""

    def __init__(self, database: Database) -> None:
        self.mode = "accept"
        self.database = database
        self.asked = 0
        self.cancels = 0
        self.over = threading.Event()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def lines(self) -> list[str]:
        return []

    def stop(self) -> None:
        self.over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
        for sock in self._open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(near)
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        if self.mode == "vanish_early":
            reset(near)
            return
        if self.mode == "mute":
            self.over.wait(60)
            return
        far = socket.create_connection((self.database.host, self.database.port))
        self._open.append(far)
        marked = threading.Event()
        threading.Thread(target=self._back, args=(near, far, marked), daemon=True).start()
        with contextlib.suppress(OSError):
            for data in _pieces(near):
                self.cancels += data[4:8] == b"\x04\xd2\x16\x2e"
                if MARK in data:
                    self.asked += 1
                    marked.set()
                far.sendall(data)
        with contextlib.suppress(OSError):
            far.shutdown(socket.SHUT_WR)

    def _back(self, near: socket.socket, far: socket.socket, marked: threading.Event) -> None:
        with contextlib.suppress(OSError):
            for data in _pieces(far):
                if not marked.is_set() or self.mode == "accept":
                    near.sendall(data)
                    continue
                match self.mode:
                    case "reset":
                        # The other thread must let go of it, or the system keeps it open.
                        near.shutdown(socket.SHUT_RD)
                        reset(near)
                    case "close":
                        near.shutdown(socket.SHUT_RDWR)
                    case "garbage":
                        near.sendall(b"thank you very much")
                        near.shutdown(socket.SHUT_RDWR)
                    case "silent":
                        self.over.wait(60)
                return
        with contextlib.suppress(OSError):
            near.shutdown(socket.SHUT_RDWR)


def _pieces(sock: socket.socket) -> Iterator[bytes]:
    while data := sock.recv(65_536):
        yield data
