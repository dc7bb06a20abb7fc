"""The files of the repository, for tests that look at all of them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from tests.needs import ROOT

ROOMS = ("config", "runs", "approvals", "tools", "outbox", "accounts")


@cache
def files(suffix: str = "") -> tuple[Path, ...]:
    """What git tracks, plus what is new and not ignored; so a mistake is seen before it is committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    paths = (ROOT / name for name in listed if name.endswith(suffix) and name)
    return tuple(sorted(path for path in paths if path.is_file()))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
