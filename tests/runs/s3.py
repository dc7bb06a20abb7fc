"""A server that speaks S3, in a process of its own, for tests of object storage."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import httpx
from botocore.config import Config

from config.embedded.ports import free_port

BUCKET = "artifacts"


@dataclass
class Server:
    """Where it listens. ``url`` is what ``ARTIFACT_URL`` takes."""

    port: int = field(default_factory=free_port)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"s3://key:s%2Fcret@127.0.0.1:{self.port}/{BUCKET}/house?region=eu-west-1&tls=0&timeout=2"

    def client(self) -> Any:
        """Straight to the server, past the product."""
        return boto3.client(
            "s3",
            endpoint_url=self.origin,
            region_name="eu-west-1",
            aws_access_key_id="key",
            aws_secret_access_key="s/cret",
            config=Config(s3={"addressing_style": "path"}),
        )

    def keys(self) -> list[str]:
        listed = self.client().list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return [found["Key"] for found in listed]


@contextlib.contextmanager
def serving(*, page: int = 1000) -> Iterator[Server]:
    """A server with an empty bucket. ``page``: how many names it tells at a time."""
    server = Server()
    environment = {**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": str(page)}
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(server.port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(server.origin, timeout=5)
                break
            assert process.poll() is None, "the S3 server ended"
            assert time.monotonic() < deadline, "the S3 server did not start"
            time.sleep(0.05)
        server.client().create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        yield server
    finally:
        process.kill()
        process.wait()
