"""Processor time and memory of whole trees of processes, the kernel's figures."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psutil


def tree(pid: int) -> list[psutil.Process]:
    """The process and everything below it; nothing when it is gone."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def used(pids: Sequence[int], *, without: Sequence[int] = ()) -> float:
    """Seconds of processor time of these trees until now, ended children included."""
    seconds = 0.0
    for pid in pids:
        for process in tree(pid):
            if process.pid in without:
                continue
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def memory(pids: Sequence[int]) -> float:
    """Megabytes that these trees hold now."""
    held = 0.0
    for pid in pids:
        for process in tree(pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                held += process.memory_info().rss
    return held / 1e6


@dataclass
class Work:
    """What many runs took. ``cpu`` in seconds, of workers and servers together."""

    steps: int
    seconds: float
    cpu: float

    @property
    def per_second(self) -> float:
        return self.steps / self.seconds

    @property
    def cpu_per_1000(self) -> float:
        return self.cpu / self.steps * 1000


@contextlib.contextmanager
def still(pids: Sequence[int]) -> Iterator[None]:
    """These trees stand still inside."""
    held = [process for pid in pids for process in tree(pid)]
    for process in held:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in reversed(held):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


def kill(pid: int) -> None:
    """``kill -9`` of the whole tree, the root first: nobody tidies up."""
    for process in tree(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            os.kill(process.pid, signal.SIGKILL)


def now() -> float:
    return time.time()
