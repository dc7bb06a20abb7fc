"""Turns the addresses of the environment into what Django expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

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
        "OPTIONS": {"prepare_threshold": 3, "connect_timeout": 10, **pooled, **query},
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
    """`file:///folder` (default: `DATA_DIR/artifacts`) or `s3://key:secret@host:port/bucket?region=…&tls=0`."""
    parts = urlsplit(url)
    if parts.scheme == "s3":
        return _s3(parts)
    location = Path(unquote(parts.path)) if url else data_dir / "artifacts"
    return {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": str(location),
            "base_url": None,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    }


def _s3(parts: SplitResult) -> dict[str, Any]:
    query = dict(parse_qsl(parts.query))
    scheme = "http" if query.get("tls") == "0" else "https"
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.path.strip("/"),
            "access_key": unquote(parts.username or "") or None,
            "secret_key": unquote(parts.password or "") or None,
            "endpoint_url": f"{scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else ""),
            "region_name": query.get("region"),
            "default_acl": None,
            "file_overwrite": True,
            "querystring_auth": True,
        },
    }
