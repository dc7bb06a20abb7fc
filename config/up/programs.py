"""What runs in a house, and how each is started and stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from config.embedded import process
from config.embedded.postgres import Postgres
from config.embedded.privileges import Runner
from config.embedded.valkey import Valkey

# Nothing is saved to disk, so nothing is forked, so no memory is overcommitted.
_VALKEY_NOISE = ("Memory overcommit must be enabled",)
ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Program:
    """`stop` asks it to end, `harder` is the next word; one that `tells` says when it is ready."""

    name: str
    command: tuple[str, ...]
    env: dict[str, str]
    stop: signal.Signals = signal.SIGTERM
    harder: signal.Signals = signal.SIGKILL
    tells: bool = True
    runner: Runner | None = None
    before: Callable[[], None] | None = None
    cwd: Path = ROOT
    # Lines with these words say nothing a person can act on.
    noise: tuple[str, ...] = ()


def postgres(server: Postgres) -> Program:
    return Program(
        "postgres",
        tuple(server.command()),
        server.env(),
        # Fast: disconnect everybody, write a checkpoint. Harder: immediate, the log is replayed next time.
        stop=signal.SIGINT,
        harder=signal.SIGQUIT,
        tells=False,
        runner=server.runner,
        before=server.release_lock_of_a_stranger,
        cwd=Path("/"),
    )


def valkey(server: Valkey) -> Program:
    return Program(
        "valkey", tuple(server.command()), server.env(), tells=False, cwd=Path("/"), noise=_VALKEY_NOISE
    )


def sink(env: dict[str, str], *, smtp: int, http: int, store: Path, home: str) -> Program:
    command = ("-m", "config.sink", f"--smtp={smtp}", f"--http={http}", f"--store={store}", f"--home={home}")
    return Program("sink", _python(*command), env)


def web(env: dict[str, str], port: int) -> Program:
    options = (
        "--host=127.0.0.1",
        f"--port={port}",
        "--log-level=warning",
        "--no-access-log",
        # Uvicorn would believe X-Forwarded-For from this machine; TRUSTED_PROXIES decides that instead.
        "--no-proxy-headers",
        "--lifespan=off",
    )
    command = _python("-m", "uvicorn", "config.asgi:application", *options, "--timeout-graceful-shutdown=2")
    return Program("web", command, env, tells=False)


def node(env: dict[str, str]) -> Program:
    return Program("node", _worker("solo", "execution", "node"), env)


def coordinator(env: dict[str, str]) -> Program:
    return Program("coordinator", (*_worker("threads", "coordination", "coordinator"), "-c", "4"), env)


def beat(env: dict[str, str]) -> Program:
    # It only rings, so it need not remember: no schedule file that a kill could spoil.
    command = ("-m", "celery", "-q", "-A", "config", "beat", "-S", "celery.beat:Scheduler", "--pidfile=")
    return Program("beat", _python(*command), env)


def _worker(pool: str, queue: str, name: str) -> tuple[str, ...]:
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    return _python(
        "-m", "celery", "-q", "-A", "config", "worker", "-P", pool, "-Q", queue, *quiet, "-n", f"{name}@%h"
    )


def _python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, *arguments)


def die_with(parent_signal: signal.Signals) -> None:
    process.die_with_parent(parent_signal)
