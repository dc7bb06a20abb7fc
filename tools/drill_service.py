"""The tool of the bench that sends over HTTP: one POST to the service that ``COUNTERSIGN_DRILL_SERVICE`` names
(``host:port``). Connections are kept open, as a client of a real service would. No Django."""

import asyncio
import os
from typing import Any

import orjson

from tools.adapters.base import Answer, Failed, Unknown
from tools.toolbox import tool

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
#: Of this process; one call has a connection for itself.
_idle: list[Connection] = []


@tool("drill.post")
async def post(ctx: Any, arguments: dict[str, Any]) -> Answer:
    """Sends its arguments once, under the idempotency key; the answer is what the service said."""
    reader, writer = _idle.pop() if _idle else await _connect()
    body = orjson.dumps(arguments)
    head = f"POST /effects HTTP/1.1\r\nHost: drill\r\nIdempotency-Key: {ctx.key}\r\nContent-Length: {len(body)}\r\n\r\n"
    try:
        writer.write(head.encode() + body)
        status, answer = await _answer(reader)
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        writer.close()
        raise Unknown("no_answer", f"The service did not answer: {type(error).__name__}.") from error
    except BaseException:
        writer.close()
        raise
    _idle.append((reader, writer))
    if status != 201:
        raise Failed("refused", f"The service answered {status}.")
    return Answer(answer, reference=str(answer.get("id", "")))


async def _connect() -> Connection:
    host, _, port = os.environ.get("COUNTERSIGN_DRILL_SERVICE", "").rpartition(":")
    try:
        return await asyncio.open_connection(host, int(port))
    except (OSError, ValueError) as error:
        raise Failed("no_service", "COUNTERSIGN_DRILL_SERVICE names no service. Nothing was sent.") from error


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, Any]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    answer = orjson.loads(await reader.readexactly(length))
    return int(head.split(" ", 2)[1]), answer
