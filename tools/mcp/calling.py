"""A ``tools/call``, made once: session, look at the definition, call, and the truth about how far it came.

Until the first byte of the call may have left, whatever goes wrong is a failure. Afterwards only an answer says anything:
a result, an error of JSON-RPC that the call was not taken, or a 4xx of HTTP. All else leaves it open (B67).
"""

import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
)
from pydantic import TypeAdapter, ValidationError

from tools import egress
from tools.adapters import http as plain_http
from tools.adapters.base import Answer, Context, Failed, Go, Unknown
from tools.mcp import answers, sessions
from tools.mcp.definition import CHANGED, MISSING, WORDS, differences
from tools.mcp.source import Source
from tools.mcp.watch import Refused, Watch

#: Names in ``_meta`` of a call that changes something: the same for every attempt at one effect, and a number that rises
#: with every claim.
KEY, FENCE = "countersign/idempotency-key", "countersign/fence"
#: Errors by which a server says that it did not take the call. The SDK itself makes none of them once a call was answered
#: with a 2xx, or over pipes.
NOT_TAKEN = (METHOD_NOT_FOUND, INVALID_PARAMS, HEADER_MISMATCH)
_RAW: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Wanted:
    """``tool``: its name at the server; empty asks for the list alone. ``pinned``: the definition that was confirmed.
    ``errors_mean_not_done``: the contract's word that a result marked as an error did not happen."""

    source: Source
    tool: str
    arguments: Mapping[str, Any]
    pinned: Mapping[str, Any]
    reads: bool
    errors_mean_not_done: bool = False


class _Talk:
    """A call under way. ``result`` stays what it was, however the session ends."""

    def __init__(self, wanted: Wanted, go: Go | None, ctx: Context, until: egress.Deadline) -> None:
        self.wanted, self.go, self.ctx, self.until = wanted, go, ctx, until
        self.result: dict[str, Any] | None = None
        self.watch = Watch(self._last_look)

    def _last_look(self) -> None:
        if self.ctx.lost or self.ctx.cancelled or self.until.left() <= 0:
            raise Refused("too_late", "The time to send it had passed; it was not sent.")

    async def hold(self) -> None:
        """Raises whatever goes wrong on the way."""
        with anyio.fail_after(self.until.left()):
            async with sessions.opened(self.wanted.source, deadline=self.until, watch=self.watch) as client:
                offered = await sessions.listed(client, self.wanted.source)
                if not self.wanted.tool:
                    self.result = {"tools": offered}
                    return
                _same(self.wanted, next((one for one in offered if one["name"] == self.wanted.tool), None))
                self.result = await self._call(client)

    async def _call(self, client: Client) -> dict[str, Any]:
        meta: Any = None
        if self.go is not None:
            meta = {KEY: plain_http.key_header(self.go.key), FENCE: str(self.go.fence)}
        params = CallToolRequestParams(
            name=self.wanted.tool, arguments=dict(self.wanted.arguments), _meta=meta
        )
        # Not by `Client.call_tool`: that sends again by itself when the server asks for it.
        request = CallToolRequest(params=params)
        return await client.session.send_request(request, _RAW)  # type: ignore[type-var]  # any JSON object


async def call(wanted: Wanted, go: Go | None, ctx: Context) -> Answer:
    """Raises :class:`Failed` and :class:`Unknown`; for a tool that only reads there is no doubt."""
    seconds = min(go.seconds, ctx.seconds_left) if go else ctx.seconds_left
    if ctx.lost or seconds <= 0:
        raise Failed("too_late", "The time to send it had passed; it was not sent.")
    talk = _Talk(wanted, go, ctx, egress.Deadline.after(seconds))
    error: Exception | None = None
    try:
        await talk.hold()
    except Exception as raised:  # noqa: BLE001 - what it means is decided below
        error = _first(raised)
    if talk.result is None:
        raise _meaning(talk, error or RuntimeError("the session ended")) from error
    if not wanted.tool:
        return Answer(talk.result, reference=f"MCP {len(talk.result['tools'])} tools")
    return _judged(talk.result, wanted, ctx)


def _same(wanted: Wanted, found: Mapping[str, Any] | None) -> None:
    """Raises :class:`Failed` when the server offers another tool than the one that was confirmed (B68)."""
    changed = differences(wanted.pinned, found)
    if not changed:
        return
    if changed == [MISSING]:
        text = f"The server does not offer {wanted.tool} any more. It was not called."
    else:
        parts = " and the ".join(WORDS[part] for part in changed)
        text = f"The {parts} of {wanted.tool} is not what was confirmed. It was not called."
    facts = {"found": None if found is None else dict(found), "changed": changed}
    raise Failed(CHANGED, text, facts=facts)


def _judged(result: Mapping[str, Any], wanted: Wanted, ctx: Context) -> Answer:
    if result.get("resultType") == "input_required":
        raise _open(
            wanted, "input_required", "The server asks for more before it goes on; nobody answers it."
        )
    if not result.get("isError"):
        return answers.answer(result, tool=wanted.tool, ctx=ctx)
    said = f"The tool reports an error: {answers.words(result)}"
    if wanted.reads or wanted.errors_mean_not_done:
        raise Failed("tool_error", said)
    raise Unknown("tool_error", f"{said} That does not say how far it came.")


def _meaning(talk: _Talk, error: Exception) -> Exception:
    """What is known when no result came."""
    watch, said = talk.watch, _words(error)
    code, text = watch.problem or (_code(error), said)
    if isinstance(error, Failed):
        return error
    if not watch.sent:
        return Failed(code, f"{text} Nothing was called.")
    if 400 <= watch.status <= 499 and watch.status not in plain_http.UNCLEAR:
        return Failed(
            f"http_{watch.status}", f"The server answered {watch.status}: {said} It did not happen."
        )
    if watch.status in (307, 308):
        return Failed(
            f"http_{watch.status}",
            f"The server answered {watch.status}: it lives elsewhere. A call is not sent on.",
        )
    if isinstance(error, MCPError) and error.code in NOT_TAKEN:
        return Failed("not_taken", f"The server did not take the call: {said}")
    return _open(
        talk.wanted, code, f"It was sent, and there is no answer that says what became of it: {text}"
    )


def _open(wanted: Wanted, code: str, text: str) -> Exception:
    return Failed(code, text) if wanted.reads else Unknown(code, text)


def _code(error: Exception) -> str:
    if isinstance(error, builtins.TimeoutError):
        return "no_answer"
    return "bad_answer" if isinstance(error, ValidationError) else "session_failed"


def _words(error: Exception) -> str:
    """Short, on one line, and without what pydantic would say at length."""
    if isinstance(error, builtins.TimeoutError):
        return "It took too long."
    if isinstance(error, ValidationError):
        return "The server's answer is not what the protocol asks for."
    text = error.message if isinstance(error, MCPError) else str(error)
    text = " ".join(text[:2000].split())[:300].rstrip(".")
    return f"{text or type(error).__name__}."


def _first(error: Exception) -> Exception:
    """The first of a group that says something."""
    while isinstance(error, ExceptionGroup):
        error = next((one for one in error.exceptions if isinstance(one, Failed)), error.exceptions[0])
    return error
