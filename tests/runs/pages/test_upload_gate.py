"""A body that is too large is refused while it arrives, by the real server."""

from __future__ import annotations

import http.client
import resource
import socket
import time
from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.make import runs as make
from tests.runs.pages.server import Web, serving

pytestmark = pytest.mark.django_db(transaction=True)
MB = 1_000_000


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


def limit() -> int:
    return int(settings.COUNTERSIGN.max_upload_mb) * MB


def test_a_200_mb_text_is_refused_while_it_streams(web):
    """Guards ``runs/upload_gate.py``: it counts what comes in, announced or not, and keeps nothing."""
    house = make.house()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = socket.create_connection(("127.0.0.1", web.port), timeout=20)
    head = (
        "POST /tasks/uploads/ HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
        f"Cookie: {web.cookie(house.ada)}\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n"
    )
    sent = 0
    answer = b""
    piece = b"a" * MB
    try:
        line.sendall(head.encode())
        line.setblocking(True)
        for _ in range(200):
            line.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")
            sent += len(piece)
            line.settimeout(0.001)
            try:
                answer += line.recv(4096)
            except TimeoutError:
                pass
            finally:
                line.settimeout(20)
            if answer:
                break
        until = time.monotonic() + 20
        while b"raise the limit" not in answer and time.monotonic() < until:
            answer += line.recv(4096)
    finally:
        line.close()
    assert b" 413 " in answer.partition(b"\r\n")[0]
    assert b"It was not kept." in answer
    assert sent < limit() + 60 * MB
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 60 * MB


def test_a_body_that_announces_its_size_is_refused_at_once(web):
    client = http.client.HTTPConnection("127.0.0.1", web.port, timeout=20)
    client.putrequest("POST", "/api/v1/uploads/")
    client.putheader("Content-Length", str(200 * MB))
    client.putheader("Content-Type", "text/plain")
    client.endheaders()
    client.send(b"a" * 1000)
    answer = client.getresponse()
    assert answer.status == 413
    assert answer.getheader("Content-Type") == "application/problem+json"
    client.close()


def test_a_body_within_the_limit_passes(web):
    client = http.client.HTTPConnection("127.0.0.1", web.port, timeout=20)
    client.request("POST", "/tasks/uploads/", body=b"a" * 2 * MB, headers={"Content-Type": "text/plain"})
    answer = client.getresponse()
    answer.read()
    assert answer.status in (302, 403)
    client.close()
