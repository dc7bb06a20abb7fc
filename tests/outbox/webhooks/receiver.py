"""A receiver of webhooks with moods, which checks signatures with the official library."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook


@dataclass
class Receiver:
    """``got`` is (webhook-id, body, headers) of every POST. ``answer`` is what it says; ``hold`` keeps it silent until set."""

    url: str = ""
    got: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)
    answer: tuple[int, bytes, dict[str, str]] = (204, b"", {})
    hold: threading.Event | None = None
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body, _ in self.got]

    def verified(self, secret: str) -> list[dict[str, Any]]:
        """Every body, after the official library has agreed to its signature."""
        return [Webhook(secret).verify(body, headers) for _, body, headers in self.got]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((self.headers["webhook-id"], body, dict(self.headers.items())))
            receiver.arrived.release()
            if receiver.hold is not None:
                receiver.hold.wait()
            status, said, more = receiver.answer
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield receiver
    finally:
        if receiver.hold is not None:
            receiver.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
