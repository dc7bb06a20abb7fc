"""Recorded calls judged again: what would change if a draft were in force. Reads; sends nothing.

Recorded are effects (their intents); calls that only read leave none. What is switched off today is left out of the
comparison: it says nothing about the draft. Totals count the recorded calls of the same tool that came before.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db.models import Count, Q
from django.db.models.functions import Now

from tools import gate
from tools import policy as policies
from tools.models import Contract, Intent

DAYS = 7
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded call and its two verdicts."""

    run_id: uuid.UUID
    at: datetime
    target: str
    before: gate.Verdict | None
    after: gate.Verdict

    @property
    def change(self) -> str:
        """Newly ``asks``, ``asks_more`` people, runs ``alone``, is ``blocked``; ``less`` strict otherwise; or nothing."""
        if self.before is None:
            return ""
        was, now = self.before.path, self.after.path
        if was != now:
            return {"auto": "alone", "blocked": "blocked"}.get(now, "asks" if was == "auto" else "less")
        more = int(self.after.policy["quorum"]) - int(self.before.policy["quorum"])
        return "" if now != "approval" or not more else "asks_more" if more > 0 else "less"


@dataclass(frozen=True, slots=True)
class Replay:
    """``calls`` newest first; ``total`` counts all of the last days, also those beyond the first thousand."""

    calls: Sequence[Call]
    total: int

    def changed(self, kind: str) -> int:
        return sum(call.change == kind for call in self.calls)


def replay(*, draft: Contract, live: Contract | None) -> Replay:
    """The calls of the last seven days under the version in force and under the draft."""
    recorded = Intent.everywhere.filter(
        tenant_id=draft.tenant_id, tool_id=draft.tool_id, created_at__gt=Now() - timedelta(days=DAYS)
    )
    now, then = gate.facts(draft), gate.facts(live) if live else None
    rows = recorded.order_by("-created_at").values_list("run_id", "created_at", "target", "arguments")
    calls, done = [], list[tuple[uuid.UUID, datetime, policies.Earlier]]()
    sums = bool(policies.totals(now.policy) or (then and policies.totals(then.policy)))
    for run_id, at, target, arguments in reversed(list(rows[:MOST])):
        earlier = _before(done, run_id, at) if sums else []
        before = _word(then, arguments, earlier) if then else None
        calls.append(Call(run_id, at, target, before, _word(now, arguments, earlier)))
        done.append((run_id, at, policies.Earlier(draft.tool.name, arguments)))
    calls.reverse()
    return Replay(calls, len(calls) if len(calls) < MOST else recorded.count())


@dataclass(frozen=True, slots=True)
class Figures:
    """Calls of one tool in the last seven days. ``errors``: known not to have happened, or not to have been answered."""

    calls: int = 0
    errors: int = 0
    unknown: int = 0


class Reads(Protocol):
    """Counts calls that only read, by tool."""

    def __call__(self, *, tenant_id: uuid.UUID, days: int) -> dict[uuid.UUID, Figures]: ...


_reads: list[Reads] = []


def count_reads(by: Reads) -> None:
    """Who counts calls that only read: they leave no trace in this room, but in the one above."""
    _reads[:] = [by]


def figures(*, tenant_id: uuid.UUID) -> dict[uuid.UUID, Figures]:
    """By tool. Counted are effects that were sent, and calls that only read and have ended."""
    states = Intent.Status
    rows = (
        Intent.everywhere.filter(tenant_id=tenant_id, created_at__gt=Now() - timedelta(days=DAYS))
        .exclude(dispatched_at=None)
        .values("tool_id")
        .annotate(
            calls=Count("pk"),
            errors=Count("pk", filter=Q(status=states.REJECTED)),
            unknown=Count("pk", filter=Q(status__in=[states.UNKNOWN, states.ABANDONED])),
        )
    )
    found = {row["tool_id"]: Figures(row["calls"], row["errors"], row["unknown"]) for row in rows}
    for count in _reads:
        for tool_id, read in count(tenant_id=tenant_id, days=DAYS).items():
            sent = found.get(tool_id, Figures())
            found[tool_id] = Figures(sent.calls + read.calls, sent.errors + read.errors, sent.unknown)
    return found


def _before(
    done: Sequence[tuple[uuid.UUID, datetime, policies.Earlier]], run_id: uuid.UUID, at: datetime
) -> list[policies.Earlier]:
    """The recorded calls of this tool that a total would have counted; those of other tools are not looked at."""
    found = []
    for run, then, call in done:
        call.run, call.day = run == run_id, at - then < timedelta(days=1)
        if call.run or call.day:
            found.append(call)
    return found


def _word(
    facts: gate.ContractFacts, arguments: dict[str, Any], earlier: Sequence[policies.Earlier]
) -> gate.Verdict:
    return gate.decide(contract=facts, arguments=arguments, run=gate.RunFacts(earlier=earlier))
