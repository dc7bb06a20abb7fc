"""A server that the deployment starts, over its standard input and output: a transport for the SDK.

The process is new for each session, under :mod:`tools.mcp.guard`, and dead when the session is over. What it writes is
read with a cap; what it complains of goes into the log, as much as is decent.
"""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from tools.mcp.servers import Server
from tools.mcp.watch import Refused, Watch, is_call, readable

log = logging.getLogger(__name__)

GUARD = Path(__file__).with_name("guard.py")
#: Longest message that is read, in bytes, and most lines that are no message.
MAX_MESSAGE = 5_000_000
MAX_NOISE = 100
#: Bytes of complaints that are kept of one session.
MAX_COMPLAINTS = 4_000
#: Seconds that it may take to end by itself when its input is closed, and to be dead when it is killed.
GRACE, KILL = 0.5, 5.0
_CHUNK = 65_536


def transport(server: Server, *, secrets: Mapping[str, str], cpu_seconds: int, watch: Watch) -> Transport:
    """Starts it when it is entered."""
    return _connected(server, server.environment(secrets), cpu_seconds, watch)


@asynccontextmanager
async def _connected(
    server: Server, environment: dict[str, str], cpu_seconds: int, watch: Watch
) -> AsyncGenerator[Any]:
    limits = [str(server.memory_mb * 1_000_000), str(cpu_seconds)]
    command = [sys.executable, "-I", "-S", str(GUARD), str(os.getpid()), *limits, *server.command]
    process = await anyio.open_process(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=server.folder,
        env=environment,
        start_new_session=True,
    )
    heard_in, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said, said_out = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, process, heard_in, server.name, watch)
        tasks.start_soon(_say, process, said_out, heard_in, watch)
        tasks.start_soon(_complaints, process, server.name)
        try:
            yield heard, said
        finally:
            # A cancelled call must not leave a process behind: every wait in here ends by itself.
            watch.over = True
            with anyio.CancelScope(shield=True):
                await _end(process)
            tasks.cancel_scope.cancel()
            for stream in (heard_in, heard, said, said_out):
                stream.close()


async def _listen(process: anyio.abc.Process, heard: Any, name: str, watch: Watch) -> None:
    """Its messages, one a line. At the end of the stream, or when it makes no sense, the session is told that it is over."""
    assert process.stdout is not None
    buffer, noise = bytearray(), 0
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with heard:
            with contextlib.suppress(anyio.EndOfStream):
                while noise < MAX_NOISE:
                    buffer += await process.stdout.receive(_CHUNK)
                    *lines, rest = bytes(buffer).split(b"\n")
                    buffer = bytearray(rest)
                    if len(buffer) > MAX_MESSAGE:
                        watch.note("too_long", f"The server {name} sent more than is read.")
                        return
                    for line in lines:
                        message = _message(line)
                        noise += message is None and bool(line.strip())
                        if message is not None:
                            await heard.send(message)
            if noise:
                watch.note("garbage", f"The server {name} sent what is no message.")
            watch.note("connection_lost", f"The server {name} ended or closed its output.")


def _message(line: bytes) -> SessionMessage | None:
    try:
        value = readable(json.loads(line.decode("utf-8", "replace")))
        return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))
    except (ValueError, RecursionError, ValidationError):
        return None


async def _say(process: anyio.abc.Process, said: Any, heard: Any, watch: Watch) -> None:
    assert process.stdin is not None
    async with said:
        async for one in said:
            message = one.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            try:
                if is_call(message):
                    watch.go()
            except Refused as refused:
                watch.note(refused.code, refused.text)
                error = ErrorData(code=CONNECTION_CLOSED, message=refused.text)
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await heard.send(
                        SessionMessage(JSONRPCError(jsonrpc="2.0", id=message["id"], error=error))
                    )
                continue
            try:
                await process.stdin.send(json.dumps(message).encode() + b"\n")
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


async def _complaints(process: anyio.abc.Process, name: str) -> None:
    assert process.stderr is not None
    left = MAX_COMPLAINTS
    with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            data = await process.stderr.receive(_CHUNK)
            text = data[: max(0, left)].decode("utf-8", "replace").strip()
            left -= len(data)
            for line in text.splitlines():
                log.info("MCP server %s: %r", name, line[:500])


async def _end(process: anyio.abc.Process) -> None:
    """It is dead afterwards, and whatever it started."""
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        assert process.stdin is not None
        await process.stdin.aclose()
    with anyio.move_on_after(GRACE):
        await process.wait()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        with anyio.move_on_after(KILL):
            await process.wait()
    if process.returncode is None:
        log.error("the guard of an MCP server did not end; it is killed")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.aclose()
