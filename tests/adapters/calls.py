"""Calls for the suite: a go, a context, and one way of calling for every adapter."""

from __future__ import annotations

import asyncio
import inspect
import io
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

from tools import adapters, egress
from tools.adapters.base import Answer, Failed, Unknown
from tools.toolbox import tool


@dataclass(frozen=True)
class Go:
    key: str = "tenant:lineage:notice:mail.send"
    fence: int = 7
    seconds: float = 30.0
    dispatch_id: uuid.UUID = field(default_factory=uuid.uuid4)


@dataclass
class Context:
    key: str = "tenant:lineage:notice:mail.send"
    fence: int = 7
    lost: bool = False
    cancelled: bool = False
    seconds_left: float = 30.0
    inputs: Mapping[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def progress(self) -> None:
        """Nobody watches."""

    def spend(self, *, tokens: int = 0, cost: Any = 0) -> None:
        """Nobody counts."""

    def open_artifact(self, sha256: str) -> IO[bytes]:
        return io.BytesIO(self.files[sha256])

    def store(self, data: Any, **about: Any) -> dict[str, Any]:
        return {"size": len(data), **about}


@dataclass
class Call:
    """``count`` reads the far side's own count of effects. ``limit``: seconds in which it surely has the effect, also on a
    busy machine."""

    adapter: str
    far: Any
    spec: dict[str, Any]
    arguments: dict[str, Any]
    count: Callable[[], int]
    tenant: dict[str, str] = field(
        default_factory=lambda: {"name": "Linden", "mail_from": "desk@linden.example", "mail_reply_to": ""}
    )
    limit: float = 1.0

    def __call__(self, go: Go | None = None, ctx: Context | None = None) -> Answer:
        adapter = adapters.get(self.adapter)
        prepared = adapter.prepare(self.spec, self.arguments, self.tenant)
        value = adapter.send(prepared, go or Go(), ctx or Context())
        return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Any) -> Answer:
    answer: Answer = await value
    return answer


@tool("suite.state", blocking=True)
def state(ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """A Python tool that tells what became of something."""
    return {"state": arguments["state"]}


@tool("suite.note", blocking=True)
def note(ctx: Any, arguments: dict[str, Any]) -> Answer:
    """A Python tool as an author should write one: over egress, and exact about what is known."""
    deadline = egress.Deadline.after(ctx.seconds_left)
    port = int(arguments["port"])
    try:
        sock = egress.connect("127.0.0.1", port, allow_hosts=[f"127.0.0.1:{port}"], deadline=deadline)
    except egress.EgressRefused as error:
        raise Failed(error.code, error.text) from error
    with sock:
        reader = egress.Reader(sock, deadline)
        try:
            if reader.readline() != b"ready\n":
                raise Failed("not_ready", "The ledger does not take lines.")
        except OSError as error:
            raise Failed("connection_lost", str(error)) from error
        try:
            sock.sendall(f"{ctx.key}\n".encode())
            answer = reader.readline()
        except OSError as error:
            raise Unknown("no_answer", str(error)) from error
    text = answer.decode("utf-8", "surrogateescape").rstrip("\n")
    if text == "no":
        raise Failed("refused", "The ledger said no.")
    number, _, words = text.partition(" ")
    if not number.isdigit():
        raise Unknown("unclear_answer", text)
    return Answer({"line": int(number), "words": words}, reference=f"line {number}")
