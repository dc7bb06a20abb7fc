"""A server at an address, over streamable HTTP: the SDK's transport on our own way out.

Every request is one exchange of :mod:`tools.web`: resolved once, connected to the checked address, nothing repeated, no
proxy, capped. The stream that a server might keep open to talk by itself is not opened: nobody here listens to it.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio.to_thread
import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from tools import egress, web
from tools.mcp.watch import Refused, Watch, is_call, readable

#: Longest answer that is read, in bytes.
MAX_ANSWER = 5_000_000
#: Ours to set, see `web.exchange`.
_OURS = ("host", "content-length", "accept-encoding", "connection", "transfer-encoding")
_EVENTS = "text/event-stream"


def transport(
    url: str,
    *,
    allow_hosts: Sequence[str],
    headers: Mapping[str, str],
    deadline: egress.Deadline,
    watch: Watch,
) -> Transport:
    """``headers`` go with every request, as what proves who we are."""
    way = _Way(allow_hosts, deadline, watch)
    client = httpx2.AsyncClient(transport=way, headers=dict(headers), trust_env=False, timeout=None)
    return streamable_http_client(url, http_client=client, max_sse_event_size=MAX_ANSWER)


class _Way(httpx2.AsyncBaseTransport):
    """What cannot be sent or is not answered becomes an answer of ours (502), so that one fault ends one request."""

    def __init__(self, allow_hosts: Sequence[str], deadline: egress.Deadline, watch: Watch) -> None:
        self.allow_hosts, self.deadline, self.watch = tuple(allow_hosts), deadline, watch

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(405, request=request)
        body = await request.aread()
        call = is_call(_parsed(body))
        given = tuple((k, v) for k, v in request.headers.items() if k.lower() not in _OURS)
        asked = web.Request(request.method, str(request.url), given, body)
        try:
            reply = await anyio.to_thread.run_sync(functools.partial(self._exchange, asked, call))
        except (web.NotSent, web.NoAnswer, Refused) as error:
            self.watch.note(error.code, error.text)
            return httpx2.Response(502, request=request)
        headers = {
            name: reply.headers[name] for name in ("content-type", "mcp-session-id") if name in reply.headers
        }
        if not reply.whole:
            self.watch.note("answer_broke_off", "The answer broke off, or is longer than is read.")
        if call:
            self.watch.status = reply.status
        elif "location" in reply.headers:
            headers["location"] = reply.headers["location"]
        return httpx2.Response(reply.status, headers=headers, content=_clean(reply), request=request)

    def _exchange(self, asked: web.Request, call: bool) -> web.Reply:
        return web.exchange(
            asked,
            allow_hosts=self.allow_hosts,
            deadline=self.deadline,
            cap=MAX_ANSWER,
            last_look=self.watch.go if call else lambda: None,
            enough=_answered,
        )


def _answered(kind: str, body: bytearray) -> bool:
    """Whether an event stream has brought the answer: it may be kept open behind it."""
    if not kind.startswith(_EVENTS) or not body.endswith((b"\n\n", b"\r\n\r\n")):
        return False
    return any(
        isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)
        for message in (_parsed(line[5:]) for line in body.splitlines() if line.startswith(b"data:"))
    )


def _clean(reply: web.Reply) -> bytes:
    """The body with its JSON made readable: the SDK refuses what is no Unicode, and an answer stays an answer."""
    kind = reply.headers.get("content-type", "")
    if kind.startswith(_EVENTS):
        return b"\n".join(_line(line) for line in reply.body.splitlines()) + b"\n\n"
    value = _parsed(reply.body)
    return reply.body if value is None else json.dumps(readable(value)).encode()


def _line(line: bytes) -> bytes:
    value = _parsed(line[5:]) if line.startswith(b"data:") else None
    return line if value is None else b"data: " + json.dumps(readable(value)).encode()


def _parsed(data: bytes | bytearray) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
