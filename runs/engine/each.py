"""The same for each of many rows: one that fails is told in the log, and the others go on. For sweeps and polls, which come
round again."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

log = logging.getLogger(__name__)


def each(rows: Iterable[Any], do: Callable[[Any], int], *, failing: str) -> int:
    """How many were done: the sum of what ``do`` says of each row. ``failing`` is the line of the log, ``%s`` the row.
    ``do`` owns its transactions."""
    done = 0
    for row in rows:
        try:
            done += do(row)
        except Exception:
            log.exception(failing, row)
    return done
