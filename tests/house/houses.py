"""Real houses for tests: `python -m config.up` in a folder of its own, watched from outside."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from config.embedded.ports import free_port
from tests.needs import ROOT

SERVER_NAMES = (
    "DATABASE_URL",
    "BROKER_URL",
    "CHANNEL_URL",
    "EMAIL_URL",
    "SECRET_KEY",
    "AUDIT_KEYS",
    "SINK_PORT",
    "DATABASE_POOL",
)


@dataclass
class House:
    """One supervisor and what it says. `start` returns once it is READY or has ended."""

    folder: Path
    port: int = field(default_factory=free_port)
    extra: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(
        default_factory=lambda: [sys.executable, "-m", "config.up", "--stop-with-parent"]
    )
    process: subprocess.Popen[bytes] | None = None
    number: int = field(default_factory=itertools.count(1).__next__)

    @property
    def log(self) -> Path:
        """One for each supervisor, so that a second on the same folder does not write over the first."""
        return self.folder.parent / f"{self.folder.name}.{self.number}.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, seconds: float = 240) -> House:
        self.launch()
        wait_until(lambda: self.ready is not None or not self.alive, seconds, self.said)
        return self

    def launch(self) -> None:
        """Start it and come back at once."""
        env = {name: value for name, value in os.environ.items() if name not in SERVER_NAMES}
        env |= {"PORT": str(self.port), "DATA_DIR": str(self.folder), "NO_COLOR": "1", **self.extra}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=env,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    @property
    def ready(self) -> dict[str, Any] | None:
        for line in self.said().splitlines():
            if line.startswith("READY "):
                content: dict[str, Any] = json.loads(line.removeprefix("READY "))
                return content
        return None

    def family(self) -> list[psutil.Process]:
        """Every process of the house but the supervisor, those included that left its tree."""
        assert self.process is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def pid_of(self, name: str) -> int | None:
        """The process that runs `name` now, or None while it waits to be started again."""
        rows = json.loads((self.folder / "processes.json").read_text())["children"]
        return next((int(row["pid"]) for row in rows if row["name"] == name), None)

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> float:
        """Ask for the end and wait for it; returns the seconds it took."""
        assert self.process is not None
        began = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(sig)
        self.process.wait(30)
        return time.monotonic() - began


@contextlib.contextmanager
def house(folder: Path, **options: Any) -> Iterator[House]:
    """A house that is gone when the test is."""
    made = House(folder, **options)
    try:
        yield made
    finally:
        if made.alive:
            family = made.family()
            made.stop()
            _, alive = psutil.wait_procs(family, timeout=5)
            for left in alive:
                left.kill()


def wait_until(true: Any, seconds: float, explain: Any = str) -> None:
    """Wait for a fact about other processes; fails with what `explain` returns."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds} s\n{explain()}"
        time.sleep(0.05)


def gone(processes: list[psutil.Process], seconds: float = 10) -> list[psutil.Process]:
    """Those that still live after `seconds`."""
    return [p for p in psutil.wait_procs(processes, timeout=seconds)[1] if p.status() != psutil.STATUS_ZOMBIE]
