"""What a test needs from the machine. Without it the test is skipped and says why; `REQUIRE_ALL=1` fails it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def missing(what: str) -> NoReturn:
    if os.environ.get("REQUIRE_ALL") == "1":
        pytest.fail(f"{what} (REQUIRE_ALL=1 makes this a failure)", pytrace=False)
    pytest.skip(what)


def program(name: str, package: str) -> str:
    """The path of a program, e.g. `program("spin", "spin")`."""
    found = shutil.which(name)
    return found or missing(f"{name} is not installed; on Debian: apt-get install {package}")


def chromium() -> str:
    """A system Chromium, or the one that `CHROMIUM` names."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).exists() else missing(f"CHROMIUM names {named}, which does not exist")
    for name in CHROMIUM_NAMES:
        if found := shutil.which(name):
            return found
    return missing(
        "Chromium is not installed; on Debian: apt-get install chromium, or set CHROMIUM to its path"
    )


def shared(relative: str) -> Path:
    """A file or folder of the data that lies beside the checkout, in ../shared."""
    path = SHARED / relative
    return path if path.exists() else missing(f"../shared/{relative} is not there")
