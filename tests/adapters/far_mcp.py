"""The two far sides of the MCP adapter: the server of ``mcp_server`` over pipes, and over HTTP behind a door that breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.adapters import mcp_server
from tests.adapters.far_sides import reset
from tests.adapters.mcp_server import Book
from tools.mcp import definition
from tools.mcp.servers import SETTING, configured


class Far:
    """What a test asks of either."""

    def __init__(self, folder: Path) -> None:
        self.book = Book(folder)

    @property
    def mode(self) -> str:
        return self.book.mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self.book.mode = mode

    @property
    def lines(self) -> list[str]:
        return self.book.lines


class OverPipes(Far):
    """A server that this deployment starts itself: it is named in the setting."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder)
        self._monkeypatch = monkeypatch
        self._set([sys.executable, "-E", "-m", "tests.adapters.mcp_server", str(folder)])

    def _set(self, command: list[str]) -> None:
        house = str(Path(__file__).resolve().parents[2])
        server = {"command": command, "cwd": house, "env": {"PYTHONPATH": house}}
        self._monkeypatch.setenv(SETTING, json.dumps({"book": server}))

    def stop(self) -> None:
        """It cannot be started any more."""
        self._set(["/nowhere/to/be/found"])

    @property
    def config(self) -> dict[str, Any]:
        endpoint = f"stdio:book:{configured()['book'].identity}"
        return {
            "server": "book",
            "tool": "note",
            "definition": definition.definition(self.book.says, endpoint=endpoint),
        }


class OverHttp(Far):
    """The SDK's own HTTP server in a thread, and a door before it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        app = mcp_server.server(self.book, way="http").streamable_http_app(host="127.0.0.1")
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self.door = Door(self.book, self._socket.getsockname()[1])

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.door.port}/mcp"

    @property
    def hosts(self) -> list[str]:
        return [f"127.0.0.1:{self.door.port}"]

    @property
    def config(self) -> dict[str, Any]:
        return {"tool": "note", "definition": definition.definition(self.book.says, endpoint=self.url)}

    def stop(self) -> None:
        self.door.stop()
        self._server.should_exit = True
        self._thread.join(10)


class Door:
    """Carries bytes both ways. An answer to a ``tools/call`` it treats as the book's mode says."""

    def __init__(self, book: Book, upstream: int) -> None:
        self.book, self.upstream = book, upstream
        self.calls = 0
        self.over = threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self.over.set()
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        """Clients close the connection after one exchange, so the whole of each side is one message."""
        with (
            contextlib.suppress(OSError),
            client,
            socket.create_connection(("127.0.0.1", self.upstream)) as up,
        ):
            asked = self._asked(client)
            call = b'"tools/call"' in asked
            self.calls += call
            up.sendall(asked)
            answer = b""
            while data := up.recv(65_536):
                if not call:
                    client.sendall(data)
                answer += data
            if call:
                self._answer(client, answer)

    @staticmethod
    def _asked(client: socket.socket) -> bytes:
        got = b""
        while b"\r\n\r\n" not in got:
            got += client.recv(65_536)
        head, _, body = got.partition(b"\r\n\r\n")
        lengths = [
            line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
        ]
        while len(body) < int(lengths[0] if lengths else 0):
            body += client.recv(65_536)
        return head + b"\r\n\r\n" + body

    def _answer(self, client: socket.socket, answer: bytes) -> None:
        match self.book.mode:
            case "silent":
                self.over.wait(30)
            case "reset":
                reset(client)
            case "close":
                client.shutdown(socket.SHUT_RDWR)
            case "garbage":
                client.sendall(b"thank you very much\r\n\r\n")
            case "half":
                client.sendall(answer[: len(answer) - 20])
            case "moved":
                client.sendall(b"HTTP/1.1 307 Moved\r\nLocation: /mcp\r\nContent-Length: 0\r\n\r\n")
            case "busy":
                client.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
            case "gone":
                client.sendall(b"HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n")
            case _:
                client.sendall(answer.replace(mcp_server.ODD.encode(), mcp_server.NO_TEXT))
