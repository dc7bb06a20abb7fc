"""The data folder of one checkout: its lock, its secrets and ports, the processes that run on it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from config.embedded.ports import free_port
from config.env import SERVERS_FILE
from config.up.words import CannotStart, already_running, folder_unusable

# A supervisor that was told to stop holds the lock for up to ten seconds.
STOPPING_SECONDS = 12.0
LEFTOVER_SECONDS = 5.0


@dataclass(frozen=True)
class Keys:
    """What is made once and kept: passwords of the embedded servers, the key that signs sessions."""

    secret_key: str
    audit_keys: str
    postgres_password: str
    valkey_password: str


@dataclass(frozen=True)
class Ports:
    """All on 127.0.0.1."""

    postgres: int
    valkey: int
    smtp: int
    sink: int


class House:
    """One data folder. Use it only between `take` and the end of the process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None

    def take(self) -> None:
        """Make the folder if need be and lock it; raises CannotStart when somebody else holds it."""
        try:
            # Others may pass through (PostgreSQL under another account), not look in.
            self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
            self._lock = os.open(self.folder / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise CannotStart(folder_unusable(str(self.folder), error.strerror or str(error))) from None
        deadline = time.monotonic() + STOPPING_SECONDS
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = self._read("up.lock")
                if not holder.get("stopping") or time.monotonic() > deadline:
                    text = already_running(str(self.folder), holder.get("pid"), holder.get("url"))
                    raise CannotStart(text) from None
                time.sleep(0.1)
            else:
                return

    def sign(self, **facts: Any) -> None:
        """Write into the lock file who holds it."""
        assert self._lock is not None
        text = json.dumps({"pid": os.getpid(), **facts}).encode()
        os.pwrite(self._lock, text, 0)
        os.ftruncate(self._lock, len(text))

    def _read(self, name: str) -> dict[str, Any]:
        try:
            content = json.loads((self.folder / name).read_text())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _write(self, name: str, content: object) -> None:
        """Readable to its owner alone, whole or not at all."""
        part = self.folder / f".{name}.part"
        part.unlink(missing_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(content, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.rename(self.folder / name)

    def keys(self) -> Keys:
        kept = self._read("keys.json")
        made = {name: str(kept.get(name) or secrets.token_urlsafe(48)) for name in Keys.__annotations__}
        if made != kept:
            self._write("keys.json", made)
        return Keys(**made)

    def ports(self, sink: int) -> Ports:
        """The ports of last time where they are still free, so that addresses in use stay good."""
        kept = self._read("ports.json")
        chosen = {name: free_port(int(kept.get(name) or 0)) for name in ("postgres", "valkey", "smtp")}
        ports = Ports(**chosen, sink=sink)
        self._write("ports.json", {**chosen, "sink": sink})
        return ports

    def lend(self, addresses: dict[str, str]) -> None:
        """Let `manage.py` beside us find the servers."""
        self._write(SERVERS_FILE, addresses)

    def withdraw(self) -> None:
        (self.folder / SERVERS_FILE).unlink(missing_ok=True)

    def remember(self, children: dict[str, int]) -> None:
        """Which processes run on this folder, with their start times: a pid alone may be somebody else's."""
        rows = []
        for name, pid in children.items():
            with contextlib.suppress(psutil.Error):
                rows.append({"name": name, "pid": pid, "started": psutil.Process(pid).create_time()})
        self._write("processes.json", {"children": rows})

    def end_leftovers(self) -> list[str]:
        """Wait for what a killed supervisor left behind, then kill it; returns what had to be killed.

        PostgreSQL is not touched here: its own start knows how to wait for it.
        """
        rows = self._read("processes.json").get("children", [])
        left = {row["name"]: process for row in rows if (process := _same(row)) and row["name"] != "postgres"}
        _, alive = psutil.wait_procs(list(left.values()), timeout=LEFTOVER_SECONDS)
        for process in alive:
            kill_tree(process)
        return [name for name, process in left.items() if process in alive]


def _same(row: dict[str, Any]) -> psutil.Process | None:
    try:
        process = psutil.Process(int(row["pid"]))
        same = abs(process.create_time() - float(row["started"])) < 0.05
    except (psutil.Error, KeyError, TypeError, ValueError):
        return None
    return process if same else None


def kill_tree(process: psutil.Process) -> None:
    """SIGKILL to a process and to all below it."""
    family = [process]
    with contextlib.suppress(psutil.Error):
        family += process.children(recursive=True)
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    psutil.wait_procs(family, timeout=2)
