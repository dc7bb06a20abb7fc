"""Quotas: how often a tool may be called in an hour and in a minute. Every verb JOINS the caller's transaction.

The rows of one tool are locked while it is decided, so that calls that begin at the same moment are counted one after the
other; lock order: after intents and resource fences, before messages. Which numbers hold is never pinned: the newest
published contract decides.
"""

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Q

from accounts.ids import new_id
from accounts.statements import run
from tools import sentences
from tools.models import Contract, QuotaWindow
from tools.selectors import contract_for
from tools.windows import HOUR, MINUTE, Window

#: For so many seconds a process believes what it read of which tools have a quota.
BELIEVED = 1.0
_lock = threading.Lock()
_known: tuple[float, frozenset[uuid.UUID]] = (-BELIEVED, frozenset())


@dataclass(frozen=True, slots=True)
class Full:
    """No room for this call. ``until``: when there should be."""

    text: str
    until: datetime


def limits(contract: Contract | None) -> dict[int, int]:
    """The most calls, by length of the window in seconds; empty: as many as you like."""
    if contract is None:
        return {}
    found = {HOUR: contract.quota_per_hour, MINUTE: contract.quota_per_minute}
    return {seconds: most for seconds, most in found.items() if most is not None}


def limits_now(contract: Contract) -> dict[int, int]:
    """Those that hold for a call under this contract now."""
    newest = contract_for(tenant_id=contract.tenant_id, tool=contract.tool.name)
    return limits(newest or contract)


def spend(*, contract: Contract, waiting: Callable[[], int]) -> Full | None:
    """Count one call of the contract's tool; None: it may be made. ``waiting`` tells how many others wait already; it is
    asked only when there is no room."""
    most = limits_now(contract)
    if not most:
        return None
    windows, now = _locked(contract, most)
    if all(windows[seconds].used(now) < limit for seconds, limit in most.items()):
        for window in windows.values():
            _write(contract, window.taken(now))
        return None
    return _full(windows, most, now, before=waiting())


def when(*, contract: Contract, waiting: int) -> Full | None:
    """When a call may be made for which there is no room now; None: it may be made. Only a look."""
    most = limits_now(contract)
    windows, now = _seen(contract, most)
    full = _full(windows, most, now, before=waiting) if most else None
    return full if full is not None and full.until > now else None


def room(contract: Contract) -> int | None:
    """How many calls could begin now; None: as many as you like. Only a look: :func:`spend` decides."""
    most = limits_now(contract)
    if not most:
        return None
    windows, now = _seen(contract, most)
    return max(0, min(limit - windows[seconds].used(now) for seconds, limit in most.items()))


def rationed(contract: Contract) -> bool:
    """Whether calls of this tool must ask before they are made, because some published contract limits them. Read at most
    once a second: a quota that is published takes hold of tools that only read so much later."""
    global _known  # noqa: PLW0603
    read, tools = _known
    now = time.monotonic()
    if now - read >= BELIEVED:
        limited = Q(quota_per_hour__isnull=False) | Q(quota_per_minute__isnull=False)
        rows = Contract.everywhere.filter(limited, status=Contract.Status.PUBLISHED)
        tools = frozenset(rows.values_list("tool_id", flat=True))
        with _lock:
            _known = (now, tools)
    return contract.tool_id in tools


def forget() -> None:
    """Read anew which tools have a quota: something was published."""
    global _known  # noqa: PLW0603
    with _lock:
        _known = (-BELIEVED, frozenset())


def _locked(contract: Contract, most: dict[int, int]) -> tuple[dict[int, Window], datetime]:
    """The windows of the tool, made where they are missing, and the database's time once they are locked."""
    wanted = sorted(most)
    given = {"ids": [new_id() for _ in wanted], "seconds": wanted}
    rows = run("tools", "lock_quota", {**given, "tenant": contract.tenant_id, "tool": contract.tool_id})
    windows = {seconds: Window(seconds, first, tuple(counts)) for seconds, first, counts, _at in rows}
    return windows, max(row[3] for row in rows)


def _seen(contract: Contract, most: dict[int, int]) -> tuple[dict[int, Window], datetime]:
    """The windows without a lock, and the database's time."""
    rows = QuotaWindow.everywhere.filter(tool_id=contract.tool_id, seconds__in=most)
    kept = {row.seconds: Window(row.seconds, row.first, tuple(row.counts)) for row in rows}
    ((now,),) = run("tools", "clock", {})
    return {seconds: kept.get(seconds) or Window(seconds) for seconds in most}, now


def _full(windows: dict[int, Window], most: dict[int, int], now: datetime, *, before: int) -> Full:
    """The limit that keeps it waiting the longest."""
    until = {
        seconds: windows[seconds].free_at(now, max(limit, 1), before=before)
        for seconds, limit in most.items()
    }
    seconds = max(until, key=until.__getitem__)
    return Full(_sentence(seconds, most[seconds], until[seconds], now), until[seconds])


def _write(contract: Contract, window: Window) -> None:
    kept = QuotaWindow.everywhere.filter(tool_id=contract.tool_id, seconds=window.seconds)
    if kept.update(first=window.first, counts=list(window.counts)) != 1:
        raise LookupError("a locked window is not there any more")


def _sentence(seconds: int, most: int, until: datetime, now: datetime) -> str:
    """The same words until then: they are stored beside the step."""
    far = until.astimezone(UTC).date() != now.astimezone(UTC).date()
    shape = "%Y-%m-%d %H:%M" if far else "%H:%M" if seconds == HOUR else "%H:%M:%S"
    one, several = sentences.QUOTA[seconds]
    return (one if most == 1 else several)(most=most, time=f"{until.astimezone(UTC):{shape}}")
