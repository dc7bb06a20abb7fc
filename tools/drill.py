"""Tools for benches and drills: one for each way in which a tool can behave. No Django.

The effects write one line into the ledger that ``COUNTERSIGN_DRILL_LEDGER`` names: an independent count of
what happened that the product never reads. Only ``drill.effect_keyed`` looks at it, in the part of a far
side that knows keys.
"""

import asyncio
import fcntl
import json
import os
import re
import time
from pathlib import Path
from typing import Any

from tools.adapters.base import Answer, Failed
from tools.toolbox import tool

_DOCUMENT = json.dumps([{"id": number, "text": "lorem ipsum " * 5} for number in range(400)])


@tool("drill.noop")
async def noop(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Nothing."""
    return {"ok": True}


@tool("drill.sleep")
async def sleep(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Waits ``seconds`` without blocking."""
    await asyncio.sleep(float(arguments.get("seconds", 1)))
    return {"ok": True}


@tool("drill.gate")
async def gate(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Waits, without blocking, until the file ``path`` is there: the drill decides when."""
    path = Path(arguments["path"])
    # A file rings no bell.
    while not path.exists():  # noqa: ASYNC110, ASYNC240
        await asyncio.sleep(0.02)
    return {"ok": True}


@tool("drill.stall")
async def stall(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Reports progress for ``seconds``, then hangs as if it waited for an answer that never comes."""
    end = time.monotonic() + float(arguments.get("seconds", 0))
    ctx.progress()
    while time.monotonic() < end:
        await asyncio.sleep(0.1)
        ctx.progress()
    await asyncio.Event().wait()
    return {}


@tool("drill.nul")
async def nul(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Succeeds and returns what PostgreSQL cannot store: NUL, half a character, numbers that are none."""
    return {"text": "before\x00after", "half": "\ud800", "numbers": [float("nan"), float("inf")]}


@tool("drill.pid")
async def pid(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """The id of the process that runs it."""
    return {"pid": os.getpid()}


@tool("drill.nap", blocking=True)
def nap(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Blocks its thread for ``seconds``; stops at a safe point (every 50 ms) when asked to."""
    end = time.monotonic() + float(arguments.get("seconds", 1))
    while (left := end - time.monotonic()) > 0 and not (ctx.cancelled or ctx.lost):
        time.sleep(min(left, 0.05))
    return {"ok": True, "early": left > 0}


@tool("drill.deaf", blocking=True)
def deaf(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Blocks for ``seconds`` (an hour) and hears nothing meanwhile, as a library does that waits for an answer."""
    time.sleep(float(arguments.get("seconds", 3600)))
    return {"ok": True}


@tool("drill.pid_blocking", blocking=True)
def pid_blocking(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """As ``drill.pid``, by a blocking call."""
    return {"pid": os.getpid()}


@tool("drill.busy", blocking=True)
def busy(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Burns processor time for ``seconds``, holding the interpreter as much as real work does."""
    end, rounds = time.monotonic() + float(arguments.get("seconds", 1)), 0
    while time.monotonic() < end:
        json.dumps(json.loads(_DOCUMENT))
        rounds += 1
    return {"rounds": rounds}


@tool("drill.hog", blocking=True)
def hog(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Takes memory until there is none, at most ``megabytes``."""
    held = [bytearray(1_000_000) for _ in range(int(arguments.get("megabytes", 100_000)))]
    return {"megabytes": len(held)}


@tool("drill.crash", blocking=True)
def crash(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Ends the process without a word."""
    os._exit(7)


@tool("drill.starve", blocking=True)
def starve(ctx: Any, arguments: dict[str, Any]) -> None:
    """Takes memory until it is refused, and then ends the process as a library does that cannot allocate."""
    held = []
    try:
        while True:
            held.append(bytearray(1_000_000))
    except MemoryError:
        os.abort()


@tool("drill.spend")
async def spend(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Uses ``tokens`` and ``cost`` of the budget, and fails with the code ``fail`` if there is one."""
    ctx.spend(tokens=int(arguments.get("tokens", 0)), cost=arguments.get("cost", "0"))
    if arguments.get("fail"):
        raise Failed(str(arguments["fail"]), "It was told to fail.")
    return {"ok": True}


@tool("drill.redos", blocking=True)
def redos(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """A regular expression that takes for ever and holds the interpreter all the while."""
    return {"found": bool(re.match(r"(a+)+$", "a" * 48 + "b"))}


@tool("drill.effect", blocking=True)
def effect(ctx: Any, arguments: dict[str, Any]) -> Answer:
    """One line in the ledger at each call, then ``seconds`` until the answer. ``answer`` comes back; ``nul`` adds text that
    cannot be stored."""
    line = _write(ctx, "effect")
    time.sleep(float(arguments.get("seconds", 0)))
    return Answer({"line": line, **_extra(arguments)}, reference=f"ledger:{line}")


@tool("drill.effect_final", blocking=True)
def effect_final(ctx: Any, arguments: dict[str, Any]) -> Answer:
    """As ``drill.effect``, but nothing undoes it."""
    line = _write(ctx, "final")
    return Answer({"line": line, **_extra(arguments)}, reference=f"ledger:{line}")


@tool("drill.effect_keyed", blocking=True)
def effect_keyed(ctx: Any, arguments: dict[str, Any]) -> Answer:
    """A far side that knows keys: a repeat gives the first answer and writes no line."""
    line = _write(ctx, "keyed", once=True)
    return Answer({"line": line, **_extra(arguments)}, reference=f"ledger:{line}")


@tool("drill.undo", blocking=True)
def undo(ctx: Any, arguments: dict[str, Any]) -> Answer:
    """One more line: an undo is an effect too."""
    line = _write(ctx, "undo")
    return Answer({"line": line}, reference=f"ledger:{line}")


def _extra(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"answer": arguments.get("answer"), **({"text": "a\x00b"} if arguments.get("nul") else {})}


def _write(ctx: Any, what: str, *, once: bool = False) -> int:
    """Adds a line, on the disk before it returns; gives its number. With ``once`` the line of that key, if
    there is one."""
    path = os.environ.get("COUNTERSIGN_DRILL_LEDGER")
    if not path:
        raise Failed("no_ledger", "COUNTERSIGN_DRILL_LEDGER names no file. Nothing was written.")
    with Path(path).open("a+", encoding="utf-8") as ledger:
        fcntl.flock(ledger, fcntl.LOCK_EX)
        ledger.seek(0)
        lines = ledger.read().splitlines()
        if once:
            for number, line in enumerate(lines, 1):
                if json.loads(line)["key"] == ctx.key:
                    return number
        entry = {"what": what, "key": ctx.key, "fence": ctx.fence, "pid": os.getpid()}
        ledger.write(json.dumps(entry) + "\n")
        ledger.flush()
        os.fsync(ledger.fileno())
        return len(lines) + 1
