"""How people decide: for finding questions that nobody can decide well, never for ranking people."""

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.db.models import Count

from accounts.models import AuditEntry
from accounts.statements import run
from approvals.clock import db_now

#: An approval of high risk in less is told: nobody reads it in that time.
HASTY: Final = timedelta(seconds=5)
PERIODS: Final = (7, 30, 90)
_ACTS: Final = ("action.edited", "action.taken_back")


@dataclass(frozen=True, slots=True)
class Line:
    """One person, or one tool. ``waited``: from the question to the answer, ``looked``: from opening it to the answer, both
    in seconds as (half, 95 of 100), None without any; ``looked_at``, ``opened``, ``unopened`` count answers of which that is
    known; ``hasty`` approvals of high risk within :data:`HASTY` of opening."""

    key: str
    name: str
    answers: int
    approved: int
    rejected: int
    sent_back: int
    waited: tuple[float, float] | None
    looked: tuple[float, float] | None
    looked_at: int
    opened: int
    unopened: int
    hasty: int
    edited: int = 0
    taken_back: int = 0

    @property
    def rate(self) -> int:
        """Percent of approvals among the answers."""
        return round(100 * self.approved / self.answers) if self.answers else 0

    @property
    def unknown(self) -> int:
        """Answers of which nobody knows whether everything was opened: given over REST."""
        return self.answers - self.opened - self.unopened


@dataclass(frozen=True, slots=True)
class Quality:
    """The lines of one period, those with most answers first."""

    people: list[Line] = field(default_factory=list)
    tools: list[Line] = field(default_factory=list)


def read(*, tenant_id: uuid.UUID, days: int, tool: str = "", who: uuid.UUID | None = None) -> Quality:
    """Answers to requests for approval in the last ``days``; of one tool, or one person, if they are named."""
    since = db_now() - timedelta(days=days)
    rows = run(
        "approvals",
        "quality",
        {"tenant": tenant_id, "since": since, "tool": tool, "who": who, "hasty": HASTY},
    )
    acts = _acts(tenant_id, since, tool, who)
    found = Quality()
    for what, user_id, name, tool_name, title, *numbers in rows:
        if what == "person":
            found.people.append(_line(user_id.hex, name, numbers, acts))
        else:
            found.tools.append(_line(tool_name, title or tool_name, numbers, acts))
    return found


def _line(key: str, name: str, numbers: list[Any], acts: Mapping[tuple[str, str], int]) -> Line:
    answers, approved, rejected, sent_back, waited, looked, looked_at, opened, unopened, hasty = numbers
    return Line(
        key,
        name,
        answers,
        approved,
        rejected,
        sent_back,
        _pair(waited),
        _pair(looked),
        looked_at,
        opened,
        unopened,
        hasty,
        edited=acts.get((key, "action.edited"), 0),
        taken_back=acts.get((key, "action.taken_back"), 0),
    )


def _pair(times: Any) -> tuple[float, float] | None:
    return (float(times[0]), float(times[1])) if times and times[0] is not None else None


def _acts(tenant_id: uuid.UUID, since: Any, tool: str, who: uuid.UUID | None) -> Counter[tuple[str, str]]:
    """Edits and approvals taken back, by person and by tool: they are acts of their own, not answers."""
    rows = AuditEntry.everywhere.filter(tenant_id=tenant_id, act__in=_ACTS, at__gte=since)
    if tool:
        rows = rows.filter(payload__tool=tool)
    if who:
        rows = rows.filter(actor_id=who)
    counted: Counter[tuple[str, str]] = Counter()
    for actor_id, named, act, count in rows.values_list("actor_id", "payload__tool", "act").annotate(
        n=Count("pk")
    ):
        if actor_id:
            counted[actor_id.hex, act] += count
        counted[str(named or ""), act] += count
    return counted
