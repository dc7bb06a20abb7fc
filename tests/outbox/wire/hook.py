"""``python -m tests.outbox.wire.hook FILE SECRET``: a receiver of webhooks that verifies with the official library and writes
what it took, one JSON line each, before it answers. It prints its port. Knows nothing of the product."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def main(file: str, secret: str) -> None:
    lock = Lock()
    log = open(file, "a", buffering=1)  # noqa: SIM115, PTH123 - until the process ends

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                event = Webhook(secret).verify(body, dict(self.headers.items()))
                status, good = 204, True
            except WebhookVerificationError:
                event, status, good = None, 401, False
            line = {"id": self.headers["webhook-id"], "good": good, "event": event}
            with lock:
                log.write(json.dumps(line) + "\n")
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
