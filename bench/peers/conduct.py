"""The conductor: starts a peer's processes, gives orders, holds the clocks."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from bench.peers import meter
from bench.peers.systems import System
from bench.servers import Servers

WORK = Path(__file__).resolve().parent / "work"
POLL = 0.02
#: Longest silence of a peer in seconds.
PATIENCE = 120.0


class PeerFailed(Exception):
    """A peer ended or said something else than what was asked; the text ends with its last words."""


@dataclass
class Worker:
    """One process of a peer."""

    process: subprocess.Popen[str]
    log: Path

    def tell(self, **order: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def answer(self, word: str) -> Any:
        """What it says next. A process that stays silent too long is ended, and then says nothing."""
        assert self.process.stdout is not None
        patience = threading.Timer(PATIENCE, meter.kill, [self.process.pid])
        patience.start()
        line = self.process.stdout.readline()
        patience.cancel()
        try:
            return json.loads(line)[word]
        except (ValueError, KeyError, TypeError) as error:
            last = self.log.read_text(errors="replace")[-1500:]
            raise PeerFailed(f"wanted {word!r}, got {line!r}\n{last}") from error

    def do(self, word: str, **order: Any) -> Any:
        self.tell(**order)
        return self.answer(word)


@dataclass
class Conductor:
    """One peer on fresh ground: a database of its own, an empty broker."""

    system: System
    python: Path
    servers: Servers
    database: str = ""
    log: Path = Path()
    workers: list[Worker] = field(default_factory=list)

    def __enter__(self) -> Conductor:
        name = f"peer_{self.system.script.removesuffix('_peer.py')}_{uuid.uuid4().hex[:6]}"
        with psycopg.connect(self.servers.database_url, autocommit=True) as db:
            db.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
        self.database = self.servers.database_url.rpartition("/")[0] + "/" + name
        self.log = self.servers.folder / f"{name}.log"
        self._run("setup").wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        for worker in self.workers:
            meter.kill(worker.process.pid)
            worker.process.wait()
        self.workers.clear()

    def start(self, count: int) -> list[Worker]:
        """So many processes, ready for orders."""
        made = [Worker(self._run("work", f"w{uuid.uuid4().hex[:4]}"), self.log) for _ in range(count)]
        self.workers += made
        for worker in made:
            worker.answer("ready")
        return made

    def restart(self, worker: Worker) -> Worker:
        """The same worker once more, after a crash: same name."""
        again = Worker(self._run(*worker.process.args[2:]), self.log)  # type: ignore[index]
        self.workers.append(again)
        return again

    def _run(self, *arguments: str) -> subprocess.Popen[str]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.servers.folder),
            "PEER_DATABASE": self.database,
            "PEER_BROKER": os.environ["BROKER_URL"],
            "PEER_LOG": str(self.steps_log),
        }
        return subprocess.Popen(
            [str(self.python), str(WORK / self.system.script), *arguments],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log.open("ab"),
            text=True,
        )

    @property
    def steps_log(self) -> Path:
        return self.servers.folder / f"{self.database.rpartition('/')[2]}.steps"

    # What is asked

    def many(self, *, runs: int, steps: int) -> meter.Work:
        """Many runs at once."""
        workers = self.start(self.system.processes)
        if self.system.queue:
            self._handed_in(workers, 2, 5)
            return self._handed_in(workers, runs, steps)
        for worker in workers:
            worker.do("done", do="many", runs=2, steps=2)
        before, start = self._cpu(), meter.now()
        share = runs // len(workers)
        for worker in workers:
            worker.tell(do="many", runs=share, steps=steps)
        done = sum(worker.answer("done") for worker in workers)
        return meter.Work(done * steps, meter.now() - start, self._cpu() - before)

    def _handed_in(self, workers: Sequence[Worker], runs: int, steps: int) -> meter.Work:
        """To a queue: the clock starts when everything is in it and the workers are let go."""
        with meter.still([worker.process.pid for worker in workers]):
            if self._run("hand in", str(runs), str(steps)).wait():
                raise PeerFailed(f"{self.system.title}: the work could not be handed in")
            before, start = self._cpu(), meter.now()
        self._until_empty(runs)
        return meter.Work(runs * steps, meter.now() - start, self._cpu() - before)

    def _until_empty(self, runs: int, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        store = redis.Redis.from_url(os.environ["BROKER_URL"])
        with psycopg.connect(self.database, autocommit=True) as db:
            while time.monotonic() < end:
                if self.system.left_sql:
                    row = db.execute(self.system.left_sql.encode()).fetchone()
                    left = int(row[0]) if row else 1
                else:
                    left = runs - int(store.get("done") or 0)  # type: ignore[arg-type, unused-ignore]
                if left <= 0:
                    store.close()
                    return
                time.sleep(POLL)
        raise PeerFailed(f"{self.system.title}: {left} left after {seconds:g} s")

    def alone(self, *, steps: int) -> list[float]:
        """Milliseconds from one finished step to the next of one run by itself."""
        worker = self.start(1)[0]
        worker.do("ends", do="alone", steps=5)
        ends = worker.do("ends", do="alone", steps=steps)
        return [(later - earlier) * 1000 for earlier, later in itertools.pairwise(ends)]

    def recovery(self, *, seconds: float, patience: float) -> float | None:
        """Seconds from a ``kill -9`` in the middle of the sixth step to the start of the next step; None: not within
        ``patience``."""
        stands_by = self.system.recovery == "stands by"
        workers = self.start(2 if stands_by else 1)
        workers[0].do("started", do="slow", steps=20, seconds=seconds)
        lines = self._wait_for(6, 60)
        if lines is None:
            raise PeerFailed(f"{self.system.title} never reached the sixth step")
        victim = self._holder(workers, int(lines[-1].split()[1]))
        time.sleep(seconds / 2)
        meter.kill(victim.process.pid)
        killed, known = meter.now(), len(self._lines())
        if not stands_by:
            again = self.restart(victim)
            if self.system.recovery == "calls again":
                again.answer("ready")
                again.do("started", do="slow again", steps=20, seconds=seconds)
        lines = self._wait_for(known + 1, patience)
        return float(lines[known].split()[2]) - killed if lines else None

    def _holder(self, workers: Sequence[Worker], pid: int) -> Worker:
        return next(worker for worker in workers if any(p.pid == pid for p in meter.tree(worker.process.pid)))

    def waiting(self, *, runs: int, resumed: int) -> tuple[float, list[float]]:
        """Kilobytes of the process for each parked run, and milliseconds from a message to the run going on, one by one."""
        worker = self.start(1)[0]
        worker.do("done", do="many", runs=2, steps=2)
        before = meter.memory([worker.process.pid])
        worker.do("parked", do="park", runs=runs)
        parked = meter.memory([worker.process.pid])
        step = max(1, runs // resumed)
        gaps = worker.do("gaps", do="resume", numbers=list(range(0, runs, step))[:resumed])
        return max(0.0, parked - before) * 1000 / runs, gaps

    def _lines(self) -> list[str]:
        if not self.steps_log.exists():
            return []
        return [line for line in self.steps_log.read_text().splitlines() if line.count(" ") == 2]

    def _wait_for(self, count: int, seconds: float) -> list[str] | None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lines = self._lines()
            if len(lines) >= count:
                return lines
            time.sleep(POLL)
        return None

    def _cpu(self) -> float:
        """Workers and servers; a backend of the conductor itself is too little to matter."""
        return meter.used(
            [
                *(worker.process.pid for worker in self.workers),
                self.servers.postgres.pid,
                self.servers.broker.pid,
            ]
        )
