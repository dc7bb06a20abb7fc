"""A far side of each class behind one HTTP server of its own, in the test's process. It shares no code with the product; what
happened is counted in its ledger, by the key that travelled.

``/keys`` drops repeats of a key · ``/query`` takes every call and can be asked at ``/lookup?key=…`` · ``/deadline`` refuses
what comes after the deadline in the header · ``/none`` takes every call and tells nobody.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.crashes.ledger import Ledger

CLASSES = ("keys", "query", "deadline", "none")


class FarSide:
    """``arrived`` counts calls by class and key, effects or not. While ``mute`` is set an effect is done and its answer is held
    back; ``late`` is how many seconds a call takes before it is looked at."""

    def __init__(self) -> None:
        self.ledger, self.arrived, self.asked = Ledger(), Counter[tuple[str, str]](), 0
        self.mute, self.held = threading.Event(), threading.Event()
        self.over = threading.Event()
        self._lock = threading.Lock()
        far = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Nothing."""

            def handle_one_request(self) -> None:
                with contextlib.suppress(OSError):
                    super().handle_one_request()

            def do_GET(self) -> None:
                far.lookup(self)

            def do_POST(self) -> None:
                far.take(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def take(self, call: BaseHTTPRequestHandler) -> None:
        call.rfile.read(int(call.headers.get("Content-Length") or 0))
        kind, key = call.path.strip("/"), call.headers.get("Idempotency-Key", "")
        until = datetime.fromisoformat(call.headers["Countersign-Deadline"])
        with self._lock:
            self.arrived[kind, key] += 1
            if kind == "deadline" and datetime.now(UTC) > until:
                self._say(call, 412, {"error": "too late"})
                return
            self.ledger.add(key, keyed=kind == "keys")
        if self.mute.is_set():
            self.held.set()
            self.over.wait(60)
            return
        self._say(call, 201, {"id": f"far-{key[:8]}"})

    def lookup(self, call: BaseHTTPRequestHandler) -> None:
        (key,) = parse_qs(urlsplit(call.path).query)["key"]
        with self._lock:
            self.asked += 1
            state = "booked" if self.ledger.happened(key) else "none"
        self._say(call, 200, {"state": state, "id": f"far-{key[:8]}"})

    @staticmethod
    def _say(call: BaseHTTPRequestHandler, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        call.send_response(status)
        call.send_header("Content-Type", "application/json")
        call.send_header("Content-Length", str(len(data)))
        call.end_headers()
        call.wfile.write(data)
