"""What the environment says, typed and checked; every bad value is reported at once, in plain words.

Order: the environment, then the file that `make up` keeps in `DATA_DIR` while its servers exist (so that
`manage.py` works beside it), then the defaults. `docs/reference/settings.md` describes every name.
"""

from __future__ import annotations

import json
import os
import secrets
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from config.engine_env import EngineEnv

BASE_DIR = Path(__file__).resolve().parent.parent

# Nothing listens there: tools that only read the models may import the settings, a connection fails at once.
UNSET_DATABASE = "postgresql://not-configured@127.0.0.1:1/not-configured"
UNSET_BROKER = "redis://127.0.0.1:1/0"
SERVERS_FILE = "servers.json"


class EnvError(Exception):
    """One or more environment variables cannot be used; the text names each."""


class ProcessEnv(BaseSettings):
    """Addresses and switches of one process. Names are upper-case in the environment."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True)

    port: int = Field(8000, ge=1, le=65535)
    data_dir: Path = Path("data")
    database_url: str = UNSET_DATABASE
    database_pool: int = Field(20, ge=0, le=500)
    broker_url: str = UNSET_BROKER
    channel_url: str = ""
    email_url: str = "smtp://127.0.0.1:25"
    artifact_url: str = ""
    secret_key: str = ""
    vault_keys: str = ""
    audit_keys: str = ""
    audit_heads: str = ""
    allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    csrf_trusted_origins: str = ""
    public_url: str = ""
    metrics_token: str = ""
    trusted_proxies: int = Field(0, ge=0, le=10)
    embedded: bool = False
    email_from: str = "Countersign <countersign@localhost>"
    debug: bool = False
    log_format: str = Field("console", pattern="^(console|json)$")
    log_level: str = Field("INFO", pattern="^(DEBUG|INFO|WARNING|ERROR)$")

    @field_validator("database_url")
    @classmethod
    def _database(cls, value: str) -> str:
        return _url(value, ("postgresql", "postgres"), "postgresql://user:password@host:5432/name")

    @field_validator("broker_url", "channel_url")
    @classmethod
    def _redis(cls, value: str) -> str:
        return _url(value, ("redis", "rediss"), "redis://:password@host:6379/0") if value else value

    @field_validator("email_url")
    @classmethod
    def _email(cls, value: str) -> str:
        return _url(value, ("smtp", "smtps", "smtp+tls"), "smtp+tls://user:password@host:587")

    @field_validator("artifact_url")
    @classmethod
    def _artifact(cls, value: str) -> str:
        if not value:
            return value
        return _url(value, ("file", "s3"), "file:///srv/artifacts or s3://key:secret@host:9000/bucket")

    @field_validator("public_url")
    @classmethod
    def _public(cls, value: str) -> str:
        return (
            _url(value, ("http", "https"), "https://countersign.example.org").rstrip("/") if value else value
        )

    @model_validator(mode="after")
    def _hosts(self) -> ProcessEnv:
        if not self.hosts:
            raise ValueError("ALLOWED_HOSTS is empty: name at least one host")
        for origin in self.trusted_origins:
            if urlsplit(origin).scheme not in {"http", "https"}:
                raise ValueError(f"CSRF_TRUSTED_ORIGINS: {origin!r} must start with http:// or https://")
        return self

    @cached_property
    def hosts(self) -> list[str]:
        return _words(self.allowed_hosts)

    @cached_property
    def trusted_origins(self) -> list[str]:
        return _words(self.csrf_trusted_origins)

    @property
    def vault_key_list(self) -> list[str]:
        """Keys for credentials of tools, the newest first."""
        return [key.strip() for key in self.vault_keys.split(",") if key.strip()]

    @property
    def audit_key_list(self) -> list[str]:
        """Keys of the audit chain, the newest first."""
        return [key.strip() for key in self.audit_keys.split(",") if key.strip()]

    @property
    def channels(self) -> str:
        return self.channel_url or self.broker_url

    @property
    def origin(self) -> str:
        """Where people reach the pages; used for links in mails and for cookies."""
        return self.public_url or f"http://127.0.0.1:{self.port}"

    @property
    def configured(self) -> bool:
        """Whether this process can serve; see `require`."""
        return (
            self.database_url != UNSET_DATABASE and self.broker_url != UNSET_BROKER and bool(self.secret_key)
        )


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _url(value: str, schemes: tuple[str, ...], example: str) -> str:
    try:
        parts = urlsplit(value)
        port_ok = parts.port is None or parts.port > 0
    except ValueError as error:
        raise ValueError(f"is not an address ({error}); write it like {example}") from None
    if parts.scheme not in schemes or not port_ok:
        raise ValueError(f"must start with {' or '.join(s + '://' for s in schemes)}, like {example}")
    if parts.scheme != "file" and not parts.hostname:
        raise ValueError(f"names no host; write it like {example}")
    return value


def _kept(data_dir: Path) -> dict[str, str]:
    """The addresses of the embedded servers, or nothing when `make up` never ran here."""
    try:
        kept = json.loads((data_dir / SERVERS_FILE).read_text())
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in kept.items()} if isinstance(kept, dict) else {}


def load() -> tuple[ProcessEnv, EngineEnv]:
    """Read everything; raises EnvError that lists each bad variable."""
    data_dir = Path(os.environ.get("DATA_DIR") or "data")
    if not data_dir.is_absolute():
        data_dir = BASE_DIR / data_dir
    values: dict[str, Any] = {name.lower(): value for name, value in _kept(data_dir).items()}
    values = {name: value for name, value in values.items() if not os.environ.get(name.upper())}
    problems: list[str] = []
    process = engine = None
    try:
        process = ProcessEnv(**{**values, "data_dir": data_dir})
    except ValidationError as error:
        problems += _plain(error, "")
    try:
        engine = EngineEnv()
    except ValidationError as error:
        problems += _plain(error, "COUNTERSIGN_")
    if process is None or engine is None:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        raise EnvError(
            f"Countersign cannot start: {len(problems)} setting(s) cannot be used. Nothing was started.\n"
            f"{lines}\n"
            "Correct the environment and start again; docs/reference/settings.md explains every name."
        )
    return process, engine


def _plain(error: ValidationError, prefix: str) -> list[str]:
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        name = prefix + ".".join(str(part) for part in problem["loc"]).upper()
        message = problem["msg"].removeprefix("Value error, ")
        # An address or a key may hold a password: the value itself is shown only for harmless names.
        shown = "" if _secret(name) or not problem["loc"] else f" (it is {problem['input']!r})"
        lines.append(f"{name}: {message}{shown}" if problem["loc"] else message)
    return lines


def _secret(name: str) -> bool:
    return name.endswith(("_URL", "_KEY", "_KEYS"))


def require(process: ProcessEnv) -> None:
    """A process that serves must not run on placeholders; raises EnvError naming what is missing."""
    missing = [
        name
        for name, unset in (
            ("DATABASE_URL", process.database_url == UNSET_DATABASE),
            ("BROKER_URL", process.broker_url == UNSET_BROKER),
            ("SECRET_KEY", not process.secret_key),
            ("AUDIT_KEYS", not process.audit_key_list),
        )
        if unset
    ]
    if missing:
        raise EnvError(
            f"Countersign cannot start: {', '.join(missing)} not set. Nothing was started.\n"
            "Run `make up`, which brings its own servers, or set the missing names "
            "(docs/reference/settings.md)."
        )


def secret_key(process: ProcessEnv) -> str:
    """The given key; without one, a key of this process alone, good for tools that serve nobody."""
    return process.secret_key or secrets.token_urlsafe(50)
