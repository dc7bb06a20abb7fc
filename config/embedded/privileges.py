"""PostgreSQL refuses to run as root. Under root it runs as somebody else, without touching the system.

No account is made and no mode outside `DATA_DIR` is changed. When the other account may not enter a folder
on the way (a checkout inside a private home), the child keeps the one capability to read and to search, see
capabilities(7), "Ambient"; it can still write nothing but its own cluster.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_CAP_VERSION_3 = 0x20080522
_PR_SET_KEEPCAPS, _PR_CAPBSET_READ, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 8, 23, 47, 2
ACCOUNTS = ("postgres", "nobody")


class CannotRun(Exception):
    """This account cannot run PostgreSQL here; the text says what to do."""


@dataclass(frozen=True)
class Runner:
    """The account that PostgreSQL runs as, and the capability it needs to reach its files."""

    name: str
    uid: int
    gid: int
    capability: int | None = None

    def become(self) -> None:
        """Drop root for good; between fork and exec only."""
        libc = ctypes.CDLL(None, use_errno=True)
        if self.capability is not None:
            libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
        os.setgroups([])
        os.setgid(self.gid)
        os.setuid(self.uid)
        if self.capability is not None:
            _keep(libc, self.capability)


def _keep(libc: ctypes.CDLL, capability: int) -> None:
    mask = 1 << capability
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION_3, 0)
    # Twice (effective, permitted, inheritable): the low and the high 32 capabilities.
    data = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    if libc.capset(header, data) or libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot keep the right to search folders")


def choose(cluster: Path, needs: Iterable[Path]) -> Runner | None:
    """Who runs PostgreSQL on `cluster`: None for "as we are". Raises CannotRun in plain words."""
    if os.geteuid() != 0:
        return None
    account = _owner(cluster) or _first_account()
    blocked = [folder for path in needs for folder in _blocking(path, account)]
    if not blocked:
        return Runner(account.pw_name, account.pw_uid, account.pw_gid)
    capability = _available_capability()
    if capability is None:
        raise CannotRun(
            f"PostgreSQL cannot run as root, and the account {account.pw_name!r} may not enter {blocked[0]}. "
            "No server was started. Run `make up` as an ordinary user, or put the checkout and DATA_DIR into "
            "a folder that others may enter."
        )
    return Runner(account.pw_name, account.pw_uid, account.pw_gid, capability)


def _owner(cluster: Path) -> pwd.struct_passwd | None:
    """A cluster made earlier keeps its owner."""
    try:
        uid = cluster.stat().st_uid
        return pwd.getpwuid(uid) if uid else None
    except (OSError, KeyError):
        return None


def _first_account() -> pwd.struct_passwd:
    for name in ACCOUNTS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise CannotRun(
        "PostgreSQL cannot run as root, and this system has no account 'postgres' or 'nobody'. "
        "No server was started. Run `make up` as an ordinary user."
    )


def _blocking(path: Path, account: pwd.struct_passwd) -> list[Path]:
    """Folders above `path` that the account may not enter."""
    folders = [path, *path.parents] if path.is_dir() else list(path.parents)
    return [folder for folder in reversed(folders) if not _may_enter(folder, account)]


def _may_enter(folder: Path, account: pwd.struct_passwd) -> bool:
    try:
        info = folder.stat()
    except OSError:
        return False
    if info.st_uid == account.pw_uid:
        return bool(info.st_mode & 0o100)
    return bool(info.st_mode & (0o010 if info.st_gid == account.pw_gid else 0o001))


def _available_capability() -> int | None:
    """Reading and searching alone where the container leaves it to root; its larger sibling otherwise."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    effective = _effective()
    for capability in (_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE):
        if effective >> capability & 1 and libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) == 1:
            return capability
    return None


def _effective() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0
