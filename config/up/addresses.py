"""Which servers a house uses: its own, or those that the environment names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from config.embedded.postgres import Postgres
from config.embedded.valkey import Valkey
from config.env import ProcessEnv
from config.up.house import House, Keys, Ports

# Long enough for short steps to finish, short enough for the ten seconds of the whole stop.
DRAIN_SECONDS = "2"


@dataclass(frozen=True)
class Servers:
    """A server that is None is not ours to start."""

    postgres: Postgres | None
    valkey: Valkey | None
    smtp: int | None


def own_servers(house: House, keys: Keys, ports: Ports, given: Mapping[str, str]) -> Servers:
    """Raises CannotRun when PostgreSQL cannot run under this account."""
    folder = house.folder
    postgres = valkey = None
    if not given.get("DATABASE_URL"):
        postgres = Postgres(folder / "pg", ports.postgres, keys.postgres_password, folder / "postgres.log")
    if not given.get("BROKER_URL"):
        valkey = Valkey(folder / "valkey", ports.valkey, keys.valkey_password, folder / "valkey.log")
    return Servers(postgres, valkey, None if given.get("EMAIL_URL") else ports.smtp)


def addresses(env: ProcessEnv, keys: Keys, servers: Servers) -> dict[str, str]:
    """What the processes of the house, and `manage.py` beside them, need to know."""
    known = {
        "PORT": str(env.port),
        "EMBEDDED": "1" if servers.postgres else "0",
        "SECRET_KEY": env.secret_key or keys.secret_key,
        "AUDIT_KEYS": env.audit_keys or keys.audit_keys,
        "DATABASE_URL": servers.postgres.url() if servers.postgres else env.database_url,
        "BROKER_URL": servers.valkey.url(0) if servers.valkey else env.broker_url,
        "EMAIL_URL": f"smtp://127.0.0.1:{servers.smtp}" if servers.smtp else env.email_url,
    }
    # Never inherited: only a PostgreSQL of our own is out of everybody else's reach.
    known["EMBEDDED"] = "1" if servers.postgres else "0"
    if env.channel_url or servers.valkey:
        known["CHANNEL_URL"] = env.channel_url or (servers.valkey.url(1) if servers.valkey else "")
    return known


def child_environment(env: ProcessEnv, known: Mapping[str, str], *, colours: bool) -> dict[str, str]:
    child = {
        **os.environ,
        **known,
        "DATA_DIR": str(env.data_dir),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONUNBUFFERED": "1",
    }
    child.setdefault("COUNTERSIGN_DRAIN_SECONDS", DRAIN_SECONDS)
    if colours:
        child.setdefault("FORCE_COLOR", "1")
    return child
