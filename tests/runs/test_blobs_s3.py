"""Values in object storage, against a server that speaks S3 in a process of its own."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.test import override_settings

from config.connections import artifact_storage
from runs import blobs
from runs.blobs import storage
from tests.needs import ROOT
from tests.runs import s3

PAGE = 3
#: What a child does: no database, no settings of its own, the same code.
CHILD = """
import sys
from runs import blobs
sha256, size, uri = blobs.put(b"from a child", media_type="text/plain")
assert blobs.read(sys.argv[1]) == b"from the house"
assert "django.db" not in sys.modules, "a child loaded the database"
print(uri)
"""
HEAVY = """
import resource
from runs import blobs

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def put(megabytes):
    return blobs.put(bytes([number % 251]) * 1_000_000 for number in range(megabytes))

def read(uri):
    with blobs.open(uri) as stream:
        while stream.read(1_000_000):
            pass

# Everything is loaded and every buffer is made by a value that already goes in parts.
read(put(20)[2])
before = peak()
_, size, uri = put(200)
read(uri)
print(size, peak() - before)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[s3.Server]:
    with s3.serving(page=PAGE) as running:
        yield running


@pytest.fixture(autouse=True)
def bucket(server: s3.Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[s3.Server]:
    for key in _all(server):
        server.client().delete_object(Bucket=s3.BUCKET, Key=key)
    with _living(server.url, monkeypatch):
        yield server


def _living(url: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ARTIFACT_URL", url)
    # Django reads the setting once; here it changes from test to test.
    return override_settings(STORAGES={"artifacts": artifact_storage(url, Path("unused"))})


def _all(server: s3.Server) -> list[str]:
    pages = server.client().get_paginator("list_objects_v2").paginate(Bucket=s3.BUCKET)
    return [found["Key"] for page in pages for found in page.get("Contents", [])]


def test_a_value_lies_under_its_checksum_in_the_bucket_and_comes_back(bucket: s3.Server) -> None:
    sha256, size, uri = blobs.put(b"Notice of non-renewal", media_type="text/plain")
    assert (size, blobs.read(uri), blobs.path_or_bytes(uri)) == (
        21,
        b"Notice of non-renewal",
        b"Notice of non-renewal",
    )
    key = f"house/{sha256[:2]}/{sha256}"
    assert bucket.keys() == [key]
    assert bucket.client().head_object(Bucket=s3.BUCKET, Key=key)["ContentType"] == "text/plain"
    blobs.put(b"Notice of non-renewal")
    assert bucket.keys() == [key]


def test_a_damaged_object_is_never_handed_out_and_the_same_content_heals_it(bucket: s3.Server) -> None:
    sha256, _, uri = blobs.put(b"whole")
    key = f"house/{sha256[:2]}/{sha256}"
    bucket.client().put_object(Bucket=s3.BUCKET, Key=key, Body=b"who1e")
    with pytest.raises(blobs.Corrupt) as caught:
        blobs.open(uri)
    assert caught.value.sha256 == sha256
    blobs.put(b"whole")
    assert blobs.read(uri) == b"whole"
    bucket.client().delete_object(Bucket=s3.BUCKET, Key=key)
    with pytest.raises(blobs.Missing):
        blobs.open(uri)
    blobs.remove(uri)


def test_every_page_of_names_is_read(bucket: s3.Server) -> None:
    """The server tells three names at a time, and there are eight below one prefix."""
    names = [f"ab{number:062x}" for number in range(8)]
    for name in names:
        bucket.client().put_object(Bucket=s3.BUCKET, Key=f"house/ab/{name}", Body=b"")
    bucket.client().put_object(Bucket=s3.BUCKET, Key="house/ab/not-a-checksum", Body=b"")
    assert sorted(storage.names("ab")) == sorted([*names, "not-a-checksum"])


def test_a_child_without_a_database_reads_and_writes_the_same(bucket: s3.Server) -> None:
    _, _, uri = blobs.put(b"from the house")
    kept = {name: value for name, value in os.environ.items() if "URL" not in name or name == "ARTIFACT_URL"}
    kept.pop("DJANGO_SETTINGS_MODULE", None)
    child = subprocess.run(
        [sys.executable, "-c", CHILD, uri], cwd=ROOT, env=kept, capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    assert blobs.read(child.stdout.strip()) == b"from a child"


def test_what_the_server_refuses_says_nothing_about_the_value(
    bucket: s3.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket that does not exist, and a server that is not there: the value is not called lost."""
    _, _, uri = blobs.put(b"kept")
    with _living(bucket.url.replace("/artifacts/", "/elsewhere/"), monkeypatch):
        for act in (lambda: blobs.open(uri), lambda: blobs.put(b"new"), lambda: list(blobs.stored())):
            with pytest.raises(blobs.Unavailable):
                act()


def test_a_server_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes connections and never answers; the limit of the address (here 0.2 s, three tries) ends it."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"s3://key:secret@127.0.0.1:{deaf.getsockname()[1]}/{s3.BUCKET}?region=eu-west-1&tls=0&timeout=0.2"
        with _living(url, monkeypatch), pytest.raises(blobs.Unavailable):
            blobs.open(blobs.uri_of("0" * 64))


def test_a_part_cut_off_in_the_middle_is_not_a_value(
    bucket: s3.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that drops the connection after a few bytes of the answer: the reader hears of it, nothing is served."""
    content = os.urandom(400_000)
    _, _, uri = blobs.put(content)
    with _Cutter(bucket.port, after=50_000) as cutter:
        url = bucket.url.replace(f":{bucket.port}/", f":{cutter.port}/")
        with _living(url, monkeypatch), pytest.raises(blobs.BlobError):
            blobs.open(uri)
    assert blobs.read(uri) == content


def test_200_mb_go_through_in_parts_and_in_bounded_memory(bucket: s3.Server) -> None:
    measured = subprocess.run(
        [sys.executable, "-c", HEAVY], cwd=ROOT, capture_output=True, text=True, check=True
    )
    size, more_mb = measured.stdout.split()
    assert int(size) == 200_000_000
    assert float(more_mb) < 60


def test_the_address_says_how_the_bucket_is_reached() -> None:
    amazon = artifact_storage("s3:///bucket?region=eu-west-1", Path("unused"))["OPTIONS"]
    assert (amazon["endpoint_url"], amazon["access_key"], amazon["location"]) == (None, None, "")
    own = artifact_storage("s3://k:s@minio:9000/bucket/a/b?tls=0&style=virtual", Path("unused"))["OPTIONS"]
    assert (own["endpoint_url"], own["bucket_name"], own["location"]) == (
        "http://minio:9000",
        "bucket",
        "a/b",
    )
    assert own["client_config"].s3["addressing_style"] == "virtual"


def test_the_alias_of_django_is_where_values_go(bucket: s3.Server) -> None:
    sha256, _, _ = blobs.put(b"one place")
    assert storages["artifacts"].exists(f"{sha256[:2]}/{sha256}")
    assert hashlib.sha256(b"one place").hexdigest() == sha256


class _Cutter:
    """A proxy that closes each connection after so many bytes of the answer."""

    def __init__(self, far: int, *, after: int) -> None:
        self.far, self.after = far, after
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]

    def __enter__(self) -> _Cutter:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.listening.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self.far)) as far:
            threading.Thread(target=_pump, args=(near, far, 1 << 40), daemon=True).start()
            _pump(far, near, self.after)


def _pump(one: socket.socket, other: socket.socket, most: int) -> None:
    try:
        while most > 0 and (data := one.recv(min(65536, most))):
            other.sendall(data)
            most -= len(data)
    except OSError:
        return
