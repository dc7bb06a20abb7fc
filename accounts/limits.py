"""Rate limits, counted by the database in one statement: two processes can never both take the last try."""

import hashlib
from datetime import datetime, timedelta

from django.db.models.functions import Now

from accounts.models import RateWindow
from accounts.statements import run


def allow(*, key: str, limit: int, seconds: float, now: datetime | None = None) -> bool:
    """Count one try; False when ``limit`` tries were counted in the current window of ``seconds``.

    Call it outside a transaction that may roll back. ``now`` is for tests; the database's clock is used
    otherwise.
    """
    if limit < 1:
        return False
    return bool(
        run("accounts", "rate_window", {"key": _key(key), "limit": limit, "seconds": seconds, "now": now})
    )


def give_back(*, key: str, seconds: float, now: datetime | None = None) -> None:
    """Undo one counted try of the current window, for limits that count failures only. A try of a window
    that has ended meanwhile needs no undoing."""
    run("accounts", "rate_give_back", {"key": _key(key), "seconds": seconds, "now": now})


def forget(*, older_than: timedelta = timedelta(days=1)) -> int:
    """Delete counters of windows that began longer ago than any window lasts; returns how many."""
    return RateWindow.objects.filter(window_start__lt=Now() - older_than).delete()[0]


def _key(text: str) -> str:
    """The part before the first colon stays readable; the rest may be an address, which need not be kept."""
    kind, _, rest = text.partition(":")
    return f"{kind[:60]}:{hashlib.sha256(rest.encode(errors='backslashreplace')).hexdigest()}"
