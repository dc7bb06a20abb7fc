"""The servers of a bench, in a folder that is gone afterwards."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from config.embedded import process
from config.embedded.ports import free_port
from config.embedded.postgres import throw_away
from config.embedded.valkey import Valkey

HOUSE = Path(__file__).resolve().parent.parent
_NODE = ("-m", "celery", "-q", "-A", "config", "worker", "-P", "solo", "-Q", "execution")
_QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


@dataclass
class Servers:
    """What was started. ``node`` is the main process of the first node."""

    folder: Path
    postgres: subprocess.Popen[bytes]
    broker: subprocess.Popen[bytes]
    database_url: str
    far_side: str
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_node(self) -> None:
        """Starts a node, or one more."""
        log = (self.folder / "node.log").open("ab")
        node = process.start(
            (sys.executable, *_NODE, *_QUIET, "-n", f"bench{len(self.nodes)}@%h"),
            env={**os.environ, "LOG_LEVEL": "WARNING"},
            death=signal.SIGKILL,
            output=log,
            cwd=str(HOUSE),
        )
        self.nodes.append(node)

    @property
    def node(self) -> subprocess.Popen[bytes] | None:
        return self.nodes[0] if self.nodes else None

    def alive(self) -> bool:
        """Whether the node runs."""
        return self.node is not None and self.node.poll() is None

    def node_log(self) -> str:
        return (self.folder / "node.log").read_text(errors="replace")


@contextlib.contextmanager
def servers() -> Iterator[Servers]:
    """Starts PostgreSQL and Valkey and points the environment at them; ends everything afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-bench-"))
    folder.chmod(0o711)
    started: list[tuple[subprocess.Popen[bytes], signal.Signals]] = []
    try:
        database = throw_away(folder)
        database.create()
        server = database.start()
        started.append((server, signal.SIGINT))
        database.wait(server)
        database.ensure_database()
        valkey = Valkey(folder / "valkey", free_port(), secrets.token_urlsafe(16), folder / "valkey.log")
        broker = valkey.start()
        started.append((broker, signal.SIGTERM))
        valkey.wait(broker)
        service = _far_side()
        started.append((service, signal.SIGTERM))
        address = f"127.0.0.1:{_port(service)}"
        _environment(folder, database.url(), valkey.url(), address)
        made = Servers(folder, server, broker, database.url(), address)
        try:
            yield made
        finally:
            for node in made.nodes:
                _end(node, signal.SIGTERM)
    finally:
        for running, sig in reversed(started):
            _end(running, sig)
        shutil.rmtree(folder, ignore_errors=True)


def _far_side() -> subprocess.Popen[bytes]:
    return process.start(
        (sys.executable, "-m", "bench.far_side"),
        env=os.environ,
        death=signal.SIGKILL,
        output=subprocess.PIPE,
        cwd=str(HOUSE),
    )


def _port(service: subprocess.Popen[bytes]) -> int:
    assert service.stdout is not None
    return int(service.stdout.readline())


def _environment(folder: Path, database_url: str, broker_url: str, far_side: str) -> None:
    """Nothing of the caller's installation takes part."""
    for name in [name for name in os.environ if name.startswith("COUNTERSIGN_")]:
        if name != "COUNTERSIGN_POOLS":
            del os.environ[name]
    os.environ.update(
        DATABASE_URL=database_url,
        DATABASE_POOL="0",
        BROKER_URL=broker_url,
        CHANNEL_URL="",
        EMAIL_URL="smtp://127.0.0.1:1",
        ARTIFACT_URL="",
        DATA_DIR=str(folder / "data"),
        COUNTERSIGN_DRILL_SERVICE=far_side,
        SECRET_KEY=secrets.token_urlsafe(50),
        AUDIT_KEYS=secrets.token_urlsafe(50),
        DJANGO_SETTINGS_MODULE="config.settings",
    )
    (folder / "data").mkdir()


def _end(running: subprocess.Popen[bytes], sig: signal.Signals) -> None:
    if running.poll() is None:
        running.send_signal(sig)
        try:
            running.wait(15)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
