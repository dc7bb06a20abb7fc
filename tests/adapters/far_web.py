"""The far side of the HTTP adapter: a real server in threads that misbehaves on demand and counts every effect."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from tests.adapters.far_sides import reset

#: All of it is JSON that Python reads, and none of it can be stored as it is.
STRANGE = (
    '{"nul": "a\\u0000b", "half": "c\\ud800d", "none": NaN, "endless": -Infinity, "big": 123456789012345678901234567890,'
    f' "fine": 0.1000000000000000000001, "deep": {"[" * 300}{"]" * 300}}}'
)


class WebServer:
    """An HTTP interface that notes every effect it takes, and misbehaves below its own level. ``effects`` are the keys."""

    def __init__(self) -> None:
        self.mode = "accept"
        self.effects: list[str] = []
        self.requests: list[WebRequest] = []
        self.over = threading.Event()
        far = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Nothing."""

            def handle_one_request(self) -> None:
                with contextlib.suppress(OSError):
                    super().handle_one_request()

            def _take(self) -> None:
                far._take(self)

            do_GET = do_POST = _take  # noqa: N815 - names of the library

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def lines(self) -> list[str]:
        return self.effects

    def stop(self) -> None:
        self.over.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(10)

    def _take(self, call: BaseHTTPRequestHandler) -> None:  # noqa: C901 - one case a mode
        body = call.rfile.read(int(call.headers.get("Content-Length") or 0))
        self.requests.append(WebRequest(call.command, call.path, dict(call.headers.items()), body))
        if self.mode in ("refuse", "refuse_late"):
            self._say(call, 422 if self.mode == "refuse" else 403, b'{"detail": "no"}')
            return
        if call.command != "GET":
            self.effects.append(call.headers.get("Idempotency-Key", ""))
        match self.mode:
            case "silent":
                self.over.wait(30)
            case "reset":
                reset(call.connection)
            case "close":
                call.close_connection = True
                call.connection.shutdown(socket.SHUT_RDWR)
            case "garbage":
                call.wfile.write(b"thank you very much\r\n\r\n")
                call.close_connection = True
            case "odd":
                self._say(call, 200, b'{"line": 1, "text": "a\\u0000b\\ud800", "raw": "\xff\xed\xa0\x80"}')
            case str(mode) if mode.startswith("says:"):
                self._say(call, 200, json.dumps({"state": mode.removeprefix("says:")}).encode())
            case "strange":
                self._say(call, 200, STRANGE.encode())
            case "busy":
                self._say(call, 503, b"try later")
            case "huge":
                self._say(call, 200, b"x" * 6_000_000, kind="text/plain")
            case "broken":
                call.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                call.close_connection = True
            case "bomb":
                packed = gzip.compress(b"0" * 50_000_000)
                self._say(call, 200, packed, headers={"Content-Encoding": "gzip"}, kind="text/plain")
            case "away":
                where = call.path.partition("to=")[2] or "/elsewhere"
                self._say(call, 302, b"", headers={"Location": unquote(where)})
            case _:
                self._say(
                    call,
                    201,
                    json.dumps({"id": f"o-{len(self.effects)}", "line": len(self.effects)}).encode(),
                )

    @staticmethod
    def _say(
        call: BaseHTTPRequestHandler,
        status: int,
        body: bytes,
        *,
        headers: dict[str, str] | None = None,
        kind: str = "application/json",
    ) -> None:
        call.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            call.send_header(name, value)
        call.end_headers()
        with contextlib.suppress(OSError):
            call.wfile.write(body)


@dataclass(frozen=True)
class WebRequest:
    """What came over the wire."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
