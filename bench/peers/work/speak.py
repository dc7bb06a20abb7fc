"""The conversation of a peer's script with the conductor. Standard library only."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

#: What a step returns in every peer: a little, so that storing results is part of the work.
TEXT = "x" * 40


def database() -> str:
    """Where the peer keeps its truth."""
    return os.environ["PEER_DATABASE"]


def broker() -> str:
    """Valkey, for the peer that needs one."""
    return os.environ["PEER_BROKER"]


def say(**words: Any) -> None:
    """One line to the conductor."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def hear() -> dict[str, Any]:
    """The next order; ends the process when there is none left."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    order: dict[str, Any] = json.loads(line)
    return order


async def hear_soon() -> dict[str, Any]:
    """The next order, without standing in the way of the event loop."""
    return await asyncio.to_thread(hear)


def started(number: int) -> None:
    """Notes on disk that a slow step began: what the recovery is measured from."""
    with Path(os.environ["PEER_LOG"]).open("a", encoding="utf-8") as log:
        log.write(f"{number} {os.getpid()} {time.time()}\n")
