"""Failpoints: named seams at which a drill kills, stops, delays or breaks a process. Imports no Django.

Off unless the environment says so. ``COUNTERSIGN_FAILPOINTS`` holds entries separated by commas or
semicolons::

    send.before=kill            SIGKILL to this process
    send.before=stop            SIGSTOP to this process, until somebody continues it
    send.before=raise           raises FailpointHit
    send.before=sleep:1.5       sleeps so many seconds
    send.before=kill@3          acts on the third hit alone, counted over all processes

``COUNTERSIGN_FAILPOINT_FILE`` names a file with such entries instead, which is read again when it changes: so
a drill arms and disarms processes that run.

With ``COUNTERSIGN_FAILPOINT_LOG`` each hit of a listed name appends one line ``name pid action`` to that
file, on the disk before anything happens; ``action`` is ``-`` for a hit that was only counted. ``@n``
counts with marker files in ``COUNTERSIGN_FAILPOINT_DIR``, each of which exactly one process can create.
"""

import functools
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

ACTIONS = ("kill", "stop", "raise", "sleep")


class FailpointHit(Exception):
    """A drill asked for a fault here."""


class BadFailpoint(ValueError):
    """``COUNTERSIGN_FAILPOINTS`` cannot be read."""


@dataclass(frozen=True, slots=True)
class Failpoint:
    """What happens at one seam. ``nth`` 0 means at every hit."""

    name: str
    action: str
    seconds: float = 0.0
    nth: int = 0


def parse(text: str) -> dict[str, Failpoint]:
    """The failpoints by name. Raises :class:`BadFailpoint` on anything that is not of the documented form."""
    found: dict[str, Failpoint] = {}
    for entry in filter(None, (part.strip() for part in text.replace(";", ",").split(","))):
        name, equals, rest = entry.partition("=")
        what, at, count = rest.partition("@")
        action, colon, seconds = what.partition(":")
        try:
            point = Failpoint(name.strip(), action, float(seconds) if colon else 0.0, int(count) if at else 0)
        except ValueError:
            raise BadFailpoint(
                f"Failpoint {entry!r}: write name=action, name=sleep:1.5 or name=action@3."
            ) from None
        if not equals or not point.name or action not in ACTIONS or (action == "sleep") != bool(colon):
            raise BadFailpoint(
                f"Failpoint {entry!r}: the action is one of {', '.join(ACTIONS)} (sleep:seconds)."
            )
        if at and point.nth < 1:
            raise BadFailpoint(f"Failpoint {entry!r}: @n counts from 1.")
        if point.nth and not os.environ.get("COUNTERSIGN_FAILPOINT_DIR"):
            raise BadFailpoint(f"Failpoint {entry!r}: @n needs COUNTERSIGN_FAILPOINT_DIR.")
        found[point.name] = point
    return found


@functools.cache
def _from_environment() -> dict[str, Failpoint]:
    return parse(os.environ.get("COUNTERSIGN_FAILPOINTS", ""))


@functools.cache
def _file() -> str:
    return os.environ.get("COUNTERSIGN_FAILPOINT_FILE", "")


@functools.lru_cache(maxsize=1)
def _from_file(changed: int) -> dict[str, Failpoint]:
    return parse(Path(_file()).read_text(encoding="utf-8"))


def _active() -> dict[str, Failpoint]:
    if not _file():
        return _from_environment()
    try:
        return _from_file(Path(_file()).stat().st_mtime_ns)
    except FileNotFoundError:
        return {}


def reload() -> None:
    """Reads the environment again. For tests; production reads it once."""
    _from_environment.cache_clear()
    _file.cache_clear()


def fp(name: str) -> None:
    """The seam ``name``. Does nothing unless a drill named it. May raise :class:`FailpointHit`, or never
    return."""
    active = _active()
    if not active or name not in active:
        return
    point = active[name]
    acts = point.nth == 0 or _count(name) == point.nth
    _record(f"{name} {os.getpid()} {point.action if acts else '-'}\n")
    if not acts:
        return
    if point.action == "sleep":
        time.sleep(point.seconds)
    elif point.action == "raise":
        raise FailpointHit(name)
    else:
        os.kill(os.getpid(), signal.SIGKILL if point.action == "kill" else signal.SIGSTOP)


def _count(name: str) -> int:
    """The how-many-th hit this is, over all processes: each number is a file that only one of them can
    create."""
    folder = Path(os.environ["COUNTERSIGN_FAILPOINT_DIR"])
    number = 1
    while True:
        try:
            os.close(os.open(folder / f"{name}@{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            number += 1
        else:
            return number


def _record(line: str) -> None:
    path = os.environ.get("COUNTERSIGN_FAILPOINT_LOG")
    if not path:
        return
    log = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(log, line.encode())
        os.fsync(log)
    finally:
        os.close(log)
