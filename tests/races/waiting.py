"""Stage a race instead of hoping for one: hold a lock, wait until the database says that others wait, let go."""

from __future__ import annotations

import time
from typing import Any

import psycopg
from django.db import connection

WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
"""


def wait_until_blocked(sessions: int = 1, seconds: float = 20) -> int:
    """Returns how many sessions wait for a lock once there are that many; fails when it never comes to that. Looks from
    a connection of its own, because the test's may be in a transaction."""
    deadline = time.monotonic() + seconds
    with psycopg.connect(autocommit=True, **_address()) as observer:
        while time.monotonic() < deadline:
            row = observer.execute(WAITING).fetchone()
            if row and row[0] >= sessions:
                return int(row[0])
            time.sleep(0.01)
    raise AssertionError(f"No {sessions} sessions waited for a lock within {seconds} s")


def _address() -> dict[str, Any]:
    given = connection.settings_dict
    names = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    return {ours: given[theirs] for ours, theirs in names.items() if given[theirs]}
