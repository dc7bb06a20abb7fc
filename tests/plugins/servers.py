"""Real servers for a test session: PostgreSQL and Valkey in a temporary folder, gone afterwards.

An address that is already in the environment is used as it is (`DATABASE_URL`, `BROKER_URL`). Loaded with `-p`,
because the addresses must be known before pytest-django reads the settings. Workers of xdist inherit them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded.ports import free_port
from config.embedded.postgres import throw_away
from config.embedded.valkey import Valkey

_started: list[tuple[subprocess.Popen[bytes], signal.Signals]] = []
_folders: list[Path] = []
# The machine does not fail in a test, only processes do: the disk need not be waited for.
_FAST = {"fsync": "off", "full_page_writes": "off", "max_connections": "300"}


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    prepare()
    try:
        return (yield)
    except BaseException:
        stop()
        raise


def pytest_unconfigure(config: pytest.Config) -> None:
    stop()


def prepare() -> None:
    """Start what the environment does not name, and name it there."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-test-"))
    folder.chmod(0o711)
    _folders.append(folder)
    if not os.environ.get("DATABASE_URL"):
        postgres = throw_away(folder)
        postgres.settings.update(_FAST)
        postgres.create()
        server = postgres.start()
        _started.append((server, signal.SIGINT))
        postgres.wait(server)
        os.environ["DATABASE_URL"] = postgres.url()
        postgres.ensure_database()
    if not os.environ.get("BROKER_URL"):
        valkey = Valkey(folder / "valkey", free_port(), secrets.token_urlsafe(16), folder / "valkey.log")
        server = valkey.start()
        _started.append((server, signal.SIGTERM))
        valkey.wait(server)
        os.environ["BROKER_URL"] = valkey.url()
    # Nothing of a `make up` beside the tests may leak in, and nothing of the tests out.
    os.environ["DATA_DIR"] = str(folder / "data")
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(50))
    os.environ.setdefault("AUDIT_KEYS", secrets.token_urlsafe(50))
    os.environ.setdefault("DATABASE_POOL", "0")
    (folder / "data").mkdir()


def stop() -> None:
    """Stop what :func:`prepare` started and remove its folder."""
    while _started:
        server, sig = _started.pop()
        server.send_signal(sig)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)
