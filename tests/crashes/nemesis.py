"""The hand that breaks things: what it does follows from a seed, and whatever hit nothing does not count."""

from __future__ import annotations

import functools
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import psutil
import psycopg
import redis

from tests.crashes.drill import Drill, until

PROCESSES = ("node", "child", "coordinator", "web", "beat", "valkey", "postgres")
CHILDREN = ("io", "thread", "cpu")
#: Seams at which a process is killed, so that effects are met in flight.
SEAMS = (
    *("claim.after_commit", "begin.before_commit", "begin.committed", "begin.committed", "send.before"),
    *("send.after_bytes", "send.after_bytes", "send.before_reply_read", "send.answered", "send.answered"),
    *("record.before_commit", "record.committed", "decided.committed", "resume.before_commit", "outbox.told"),
)
#: Draws: a fault stands here as often as it is wanted.
FAULTS = (*("kill",) * 2, *("seam",) * 7, "freeze", "cut", "flush", "twice", "tell_again")
#: How long something is frozen, in leases.
FROZEN_LEASES = 3


@dataclass
class Nemesis:
    """One storm. ``log`` holds (moment by the database's clock, what was done)."""

    drill: Drill
    seed: int
    lease: float
    log: list[tuple[datetime, str]] = field(default_factory=list)

    def blow(self, seconds: float) -> None:
        """Fault after fault, each when everything is up again."""
        weather, end = random.Random(self.seed), time.monotonic() + seconds
        while time.monotonic() < end:
            self.drill.all_up()
            fault = weather.choice(FAULTS)
            moment = self._now()
            if done := self._act(fault, weather):
                self.log.append((moment, done))
            time.sleep(weather.uniform(0.2, 1.5))
        self.drill.disarm()
        self.drill.all_up()

    def _act(self, fault: str, weather: random.Random) -> str:
        act: Callable[[random.Random], str] = getattr(self, f"_{fault}")
        try:
            return act(weather)
        except (psycopg.OperationalError, redis.RedisError, psutil.NoSuchProcess):
            return ""

    def _victim(self, process: str, child: str) -> psutil.Process | None:
        try:
            return self.drill.victim(process, child=child)
        except (AssertionError, psutil.NoSuchProcess):
            return None

    def _drawn(self, weather: random.Random, among: tuple[str, ...]) -> tuple[str, psutil.Process]:
        process, child = weather.choice(among), weather.choice(CHILDREN)
        victim = until(functools.partial(self._victim, process, child), what=process)
        return (f"{child} child" if process == "child" else process), victim

    def _kill(self, weather: random.Random) -> str:
        name, victim = self._drawn(weather, PROCESSES)
        self.drill.kill(victim)
        return f"kill -9 {name}"

    def _seam(self, weather: random.Random) -> str:
        """Whoever comes to the seam next is killed there. The robots bring somebody."""
        seam = weather.choice(SEAMS)
        self.drill.arm(f"{seam}=kill@1")
        end = time.monotonic() + 8
        while time.monotonic() < end and not self.drill.hit(seam):
            time.sleep(0.05)
        self.drill.disarm()
        return f"kill -9 at {seam}" if self.drill.hit(seam) else ""

    def _freeze(self, weather: random.Random) -> str:
        name, victim = self._drawn(weather, ("node", "child"))
        victim.send_signal(signal.SIGSTOP)
        time.sleep(FROZEN_LEASES * self.lease)
        try:
            os.kill(victim.pid, signal.SIGCONT)
        except ProcessLookupError:
            return ""
        return f"froze {name} for {FROZEN_LEASES} leases"

    def _cut(self, _weather: random.Random) -> str:
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        with self.drill.database() as database:
            return f"cut {len(database.execute(cut).fetchall())} connections"

    def _flush(self, _weather: random.Random) -> str:
        with redis.Redis.from_url(self.drill.servers()["BROKER_URL"]) as broker:
            broker.flushall()
        return "flushed valkey"

    def _tell_again(self, _weather: random.Random) -> str:
        """Messages that were told are told once more: wake-ups, bells and letters come twice."""
        again = """
            UPDATE outbox_message SET published_at = NULL WHERE id IN (
                SELECT id FROM outbox_message WHERE published_at IS NOT NULL ORDER BY published_at DESC LIMIT 20)"""
        with self.drill.database() as database:
            told = database.execute(again).rowcount
        return f"told {told} messages again" if told else ""

    def _twice(self, weather: random.Random) -> str:
        """Two at once."""
        names = []
        for name, victim in (self._drawn(weather, PROCESSES), self._drawn(weather, PROCESSES)):
            if victim.is_running() and victim.status() != psutil.STATUS_ZOMBIE:
                victim.kill()
                names.append(name)
        return f"kill -9 {' and '.join(names)}" if names else ""

    def _now(self) -> datetime:
        def ask() -> Any:
            try:
                with self.drill.database() as database:
                    return (database.execute("SELECT clock_timestamp()").fetchone() or [None])[0]
            except psycopg.OperationalError:
                return None

        found: datetime = until(ask, what="the database is not back")
        return found
