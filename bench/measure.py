"""Clocks and processor time. Times of steps are the database's; processor time is the kernel's."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import statistics
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import psutil
from django.db import connection

from bench import load
from bench.servers import Servers
from runs.models import Step


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


@dataclass
class Throughput:
    """``seconds`` from the moment that the node may start to the last finished run; ``wal`` in bytes."""

    runs: int
    steps: int
    seconds: float
    cpu: Cpu
    wal: int

    @property
    def per_second(self) -> float:
        return self.steps / self.seconds

    @property
    def cpu_per_1000(self) -> float:
        return self.cpu.total / self.steps * 1000


@dataclass
class Latency:
    """Milliseconds from one finished step to the next of one run alone."""

    samples: list[float] = field(default_factory=list)

    def quantile(self, part: float) -> float:
        ordered = sorted(self.samples)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)


def throughput(servers: Servers, who: load.Cast, *, runs: int, steps: int) -> Throughput:
    """Submits while the node is held still, lets it go, and waits for the last run."""
    assert servers.node is not None
    with held(servers.node.pid):
        made = load.count(who, runs=runs, steps=steps)
        before, wal, start = cpu(servers), _wal(), _now()
    load.wait(made, alive=servers.alive)
    used = cpu(servers) - before
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM max(finished_at))::float, (SELECT count(*) FROM runs_step"
            " WHERE run_id = ANY (%s) AND kind = 'call') FROM runs_run WHERE id = ANY (%s)",
            [made, made],
        )
        end, done = cursor.fetchone()
    return Throughput(runs, int(done), float(end) - start, used, _wal() - wal)


def latency(who: load.Cast, *, steps: int) -> Latency:
    """One run alone."""
    run = load.count(who, runs=1, steps=steps)
    load.wait(run)
    return Latency(_gaps(run[0]))


def _gaps(run: uuid.UUID) -> list[float]:
    ends = list(
        Step.everywhere.filter(run_id=run, kind="call")
        .order_by("ended_seq")
        .values_list("finished_at", flat=True)
    )
    return [(later - earlier).total_seconds() * 1000 for earlier, later in itertools.pairwise(ends)]


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


def _now() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float")
        return float(cursor.fetchone()[0])


def _wal() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        return int(cursor.fetchone()[0])
