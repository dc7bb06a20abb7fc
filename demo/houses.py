"""A house for the story: the one that runs here, or one of its own that is gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from demo.trouble import Trouble
from demo.words import ROOT, _, say

START_SECONDS = 300.0
# What would lead a house of our own, or `manage.py` beside it, to somebody else's servers.
FOREIGN = (
    "DATABASE_URL",
    "BROKER_URL",
    "CHANNEL_URL",
    "EMAIL_URL",
    "ARTIFACT_URL",
    "SECRET_KEY",
    "AUDIT_KEYS",
    "SINK_PORT",
    "PUBLIC_URL",
)


@dataclass(frozen=True)
class House:
    """Addresses of a running house; `folder` is its DATA_DIR."""

    url: str
    sink: str
    folder: Path

    def token(self, email: str, *scopes: str) -> str:
        """A token for a person of the cast, made as an administrator of the server would make it."""
        chosen = [word for scope in scopes for word in ("--scope", scope)]
        made = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "issue_token", email, "--name", "demo", *chosen],
            cwd=ROOT,
            env=_environment(self.folder),
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise Trouble(_("No token for {email}: {why}").format(email=email, why=_last_lines(made.stderr)))
        return str(json.loads(made.stdout)["token"])


@contextlib.contextmanager
def a_house(*, own: bool) -> Iterator[House]:
    """The running one, unless `own` or there is none."""
    found = None if own else _running()
    if found:
        say(_("Countersign runs at {url}; the story is told there.").format(url=found.url))
        yield found
        return
    with _own() as made:
        yield made


def _running() -> House | None:
    folder = Path(os.environ.get("DATA_DIR") or "data")
    folder = folder if folder.is_absolute() else ROOT / folder
    servers, ports = _read(folder / "servers.json"), _read(folder / "ports.json")
    port = servers.get("PORT") or os.environ.get("PORT") or "8000"
    url = f"http://127.0.0.1:{port}"
    if not _healthy(url):
        return None
    if servers.get("EMBEDDED") != "1" or not ports.get("sink"):
        say(
            _(
                "Something answers at {url}, but {folder} is not the data folder of a running house with sample "
                "people. It is left alone."
            ).format(url=url, folder=folder)
        )
        return None
    return House(url, f"http://127.0.0.1:{ports['sink']}", folder)


def _healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=10, trust_env=False).is_success
    except httpx.HTTPError:
        return False


@contextlib.contextmanager
def _own() -> Iterator[House]:
    """`make up` in a folder that is removed at the end."""
    say(_("No house runs here, so the demo starts one of its own. This takes a moment."))
    home = Path(tempfile.mkdtemp(prefix="countersign-demo-"))
    folder, log = home / "data", home / "up.log"
    began = time.monotonic()
    with log.open("wb") as out:
        house = subprocess.Popen(
            [sys.executable, "-m", "config.up", "--stop-with-parent"],
            cwd=ROOT,
            env=_environment(folder) | {"PORT": str(_free_port()), "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        ready = _ready(house, log)
        say(
            _("It is up at {url} after {seconds} s.").format(
                url=ready["url"], seconds=round(time.monotonic() - began)
            )
        )
        yield House(ready["url"], ready["sink"], folder)
    finally:
        house.send_signal(signal.SIGTERM)
        try:
            house.wait(30)
        except subprocess.TimeoutExpired:
            house.kill()
            house.wait()
        shutil.rmtree(home, ignore_errors=True)


def _ready(house: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        text = log.read_text(errors="replace")
        for line in text.splitlines():
            if line.startswith("READY "):
                ready: dict[str, Any] = json.loads(line.removeprefix("READY "))
                return ready
        if house.poll() is not None:
            raise Trouble(_("The house did not start: {why}").format(why=_last_lines(text, 4)))
        time.sleep(0.2)
    raise Trouble(
        _("The house was not up within {seconds} s: {why}").format(
            seconds=round(START_SECONDS), why=_last_lines(log.read_text(errors="replace"))
        )
    )


def _environment(folder: Path) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in FOREIGN} | {
        "DATA_DIR": str(folder)
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _last_lines(text: str, most: int = 1) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-most:]) or _("it said nothing")
