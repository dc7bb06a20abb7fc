"""Clocks and processor time. Times of steps are the database's; processor time is the kernel's."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
from django.db import connection

from bench.servers import Servers


@dataclass
class Cpu:
    """Seconds of processor time of the node's main process, its children and PostgreSQL."""

    main: float = 0.0
    children: float = 0.0
    postgres: float = 0.0

    @property
    def total(self) -> float:
        return self.main + self.children + self.postgres

    def __sub__(self, before: Cpu) -> Cpu:
        return Cpu(self.main - before.main, self.children - before.children, self.postgres - before.postgres)


@contextlib.contextmanager
def held(pid: int) -> Iterator[None]:
    """The process stands still inside."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def cpu(servers: Servers) -> Cpu:
    """What has been used until now, ended children included."""
    assert servers.node is not None
    main = psutil.Process(servers.node.pid)
    own = main.cpu_times()
    children = own.children_user + own.children_system
    children += sum(_used(child) for child in main.children(recursive=True))
    server = psutil.Process(servers.postgres.pid)
    times = server.cpu_times()
    postgres = times.user + times.system + times.children_user + times.children_system
    ours = _backend()
    postgres += sum(_used(backend) for backend in server.children() if backend.pid != ours)
    return Cpu(own.user + own.system, children, postgres)


def _backend() -> int:
    """The backend of the bench itself does not count."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def memory(servers: Servers) -> float:
    """Megabytes that the node's main process holds."""
    assert servers.node is not None
    return float(psutil.Process(servers.node.pid).memory_info().rss) / 1e6


def _used(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def now() -> float:
    """Seconds on the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float")
        return float(cursor.fetchone()[0])


def wal() -> int:
    """Bytes of write-ahead log until now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        return int(cursor.fetchone()[0])
