"""Refuse a request body that is too large while it is still arriving.

Django's ASGI handler stores a whole body before a view runs, so a view cannot refuse early. This wrapper
counts what comes in, answers 413 as soon as the limit is passed, and keeps nothing. For a moment it goes on
reading and dropping, so that a sender who only reads after writing gets to see the answer.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
#: Any ASGI application; each library names the shapes in its own way.
App = Callable[[Any, Any, Any], Awaitable[None]]

#: Room for the parts of a form around one file of the largest size.
FORM_BYTES = 1_000_000
LINGER_SECONDS = 5.0


class UploadGate:
    """ASGI wrapper: no HTTP body over ``limit`` bytes passes. Other kinds of connection pass untouched."""

    def __init__(self, app: App, *, limit: int) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if _declared(scope) > self.limit:
            return await self._refuse(receive, send)
        came = 0
        answered = False

        async def counted() -> Message:
            """What came, until it is too much: then the application hears that the sender has gone, and clears up."""
            nonlocal came
            message = await receive() if came <= self.limit else {"type": "http.disconnect"}
            came += len(message.get("body", b""))
            return message if came <= self.limit else {"type": "http.disconnect"}

        async def sent(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        await self.app(scope, counted, sent)
        if came > self.limit and not answered:
            await self._refuse(receive, send)
        return None

    async def _refuse(self, receive: Receive, send: Send) -> None:
        most = max(1, (self.limit - FORM_BYTES) // 1_000_000)
        body = json.dumps(
            {
                "type": "about:blank",
                "title": "Too large",
                "status": 413,
                "code": "too_large",
                "detail": f"This file is larger than {most} MB. It was not kept."
                " Split it, or ask an administrator to raise the limit.",
            }
        ).encode()
        headers = [
            (b"content-type", b"application/problem+json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while (await receive()).get("more_body"):
                    pass
        except TimeoutError:
            pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _declared(scope: Scope) -> int:
    """The length that the sender announced; 0 when it did not, or not in digits."""
    for name, value in scope.get("headers", ()):
        if name.lower() == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0
