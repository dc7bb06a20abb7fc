"""`python -m config.sink`: SMTP and the page, until SIGTERM."""

from __future__ import annotations

import argparse
import os
import signal
import socketserver
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import django

from config.readiness import say_ready


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Every look at the page is not worth a line."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m config.sink")
    parser.add_argument("--smtp", type=int, required=True, help="port of SMTP on 127.0.0.1")
    parser.add_argument("--http", type=int, required=True, help="port of the page on 127.0.0.1")
    parser.add_argument("--store", type=Path, required=True, help="file that deliveries are appended to")
    parser.add_argument("--home", default="", help="address of the product, for a link")
    options = parser.parse_args()

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from config.sink.pages import application
    from config.sink.post import controller
    from config.sink.store import Store

    store = Store(options.store)
    server = _Server(("127.0.0.1", options.http), _Quiet)
    server.set_app(application(store, options.home))
    smtp = controller(store, options.smtp)
    smtp.start()

    def stop(*_: object) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    say_ready()
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        smtp.stop()
        store.close()


if __name__ == "__main__":
    main()
