"""Turns the addresses of the environment into what Django expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

S3_MEMORY = 8 * 1024 * 1024
S3_CONNECT_SECONDS, S3_READ_SECONDS = 5, 20
#: A server that vanished without a word (power, a firewall) is noticed in a quarter of a minute, not in a quarter of an hour
#: or two: milliseconds for what was sent and not acknowledged, seconds for a connection on which nothing is said.
NOTICES_DEATH = {
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 10,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


class Mail(NamedTuple):
    """A mail server; at most one of `tls` (STARTTLS) and `ssl` is set."""

    host: str
    port: int
    user: str
    password: str
    tls: bool
    ssl: bool


def database(url: str, pool: int) -> dict[str, Any]:
    """`postgresql://user:password@host:port/name?sslmode=…`; further parameters go to libpq.

    `pool` is how many connections one process may hold; 0 opens one a thread and none is kept.
    """
    parts = urlsplit(url)
    query: dict[str, Any] = dict(parse_qsl(parts.query))
    pooled = {"pool": {"min_size": 1, "max_size": pool, "timeout": 10}} if pool else {}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "countersign",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", parts.hostname or ""),
        "PORT": str(parts.port or ""),
        # Requests under ASGI run in threads that come and go: connections live in a pool, not in a thread.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": pool > 0,
        # Django turns prepared statements off; the engine's hot statements gain about half again from them.
        "OPTIONS": {"prepare_threshold": 3, "connect_timeout": 10, **NOTICES_DEATH, **pooled, **query},
        "TEST": {"NAME": query.get("test_name")},
    }


def mail(url: str) -> Mail:
    parts = urlsplit(url)
    return Mail(
        host=parts.hostname or "127.0.0.1",
        port=parts.port or MAIL_PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        tls=parts.scheme == "smtp+tls",
        ssl=parts.scheme == "smtps",
    )


def artifact_storage(url: str, data_dir: Path) -> dict[str, Any]:
    """`file:///folder` (default: `DATA_DIR/artifacts`) or `s3://key:secret@host:port/bucket/prefix?region=…&tls=0`.

    Without a host it is Amazon's own; then key and secret may come from its usual places.
    """
    parts = urlsplit(url)
    if parts.scheme == "s3":
        return _s3(parts)
    location = Path(unquote(parts.path)) if url else data_dir / "artifacts"
    return {"BACKEND": "runs.blobs.folder.Folder", "OPTIONS": {"location": str(location)}}


def _s3(parts: SplitResult) -> dict[str, Any]:
    # Costs half a second, and only installations with object storage need it.
    from boto3.s3.transfer import TransferConfig
    from botocore.config import Config

    query = dict(parse_qsl(parts.query))
    scheme = "http" if query.get("tls") == "0" else "https"
    bucket, _, prefix = parts.path.strip("/").partition("/")
    own = f"{scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "location": prefix,
            "access_key": unquote(parts.username or "") or None,
            "secret_key": unquote(parts.password or "") or None,
            "endpoint_url": own if parts.hostname else None,
            "region_name": query.get("region"),
            "default_acl": None,
            "file_overwrite": True,
            "querystring_auth": True,
            # Beyond this a value on its way to us waits on the disk.
            "max_memory_size": S3_MEMORY,
            "transfer_config": TransferConfig(
                max_concurrency=2, multipart_threshold=S3_MEMORY, num_download_attempts=3
            ),
            "client_config": Config(
                # Servers of one's own seldom have a name for each bucket.
                s3={"addressing_style": query.get("style", "path" if parts.hostname else "auto")},
                signature_version="s3v4",
                connect_timeout=S3_CONNECT_SECONDS,
                read_timeout=float(query.get("timeout", S3_READ_SECONDS)),
                retries={"mode": "standard", "max_attempts": 3},
                # Values carry a checksum of our own; many servers do not know Amazon's newer ones.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        },
    }
