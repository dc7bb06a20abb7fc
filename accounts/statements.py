"""SQL kept in named files: read once, run on the default connection."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent


@functools.cache
def statement(room: str, name: str) -> str:
    """The text of ``<room>/sql/<name>.sql``."""
    return (ROOT / room / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def run(room: str, name: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run a statement that returns rows and give them all. Joins the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(statement(room, name), dict(parameters))
        return cursor.fetchall() if cursor.description else []
