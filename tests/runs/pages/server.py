"""A real web server over the test's own database, in a thread: for what a test client cannot ask."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn
from django.conf import settings
from websockets.sync.client import ClientConnection, connect

from accounts.models import User
from config.embedded.ports import free_port
from tests.make.people import browser


class Web:
    """Where the server listens."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"

    def cookie(self, user: User) -> str:
        """A session as a browser holds it after signing in."""
        return f"{settings.SESSION_COOKIE_NAME}={browser(user).cookies[settings.SESSION_COOKIE_NAME].value}"

    def socket(self, path: str, *, cookie: str = "", origin: str | None = "own") -> ClientConnection:
        """An open socket, or the refusal of its handshake as an exception."""
        headers = {"Cookie": cookie} if cookie else {}
        return connect(
            f"ws://127.0.0.1:{self.port}{path}",
            additional_headers=headers,
            origin=self.origin if origin == "own" else origin,  # type: ignore[arg-type]
            open_timeout=20,
            close_timeout=5,
            proxy=None,
        )


@contextlib.contextmanager
def serving() -> Iterator[Web]:
    """The ASGI application of the product, as production runs it, until the block ends."""
    from config.asgi import application

    port = free_port()
    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=port,
        ws="websockets-sansio",
        lifespan="off",
        log_level="warning",
        access_log=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.01)
        yield Web(port)
    finally:
        server.should_exit = True
        thread.join(20)


def said(socket: ClientConnection, *, seconds: float = 20) -> dict[str, Any]:
    """The next message; a ``TimeoutError`` when none comes."""
    message: dict[str, Any] = json.loads(socket.recv(timeout=seconds))
    return message


def heard(socket: ClientConnection, seq: int, *, seconds: float = 20) -> dict[str, Any]:
    """The first message that says at least ``seq``."""
    until = time.monotonic() + seconds
    while True:
        message = said(socket, seconds=max(0.1, until - time.monotonic()))
        if message["seq"] >= seq:
            return message
