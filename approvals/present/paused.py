"""The page of a run that a person must take over: why it paused, and two ways on."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from approvals import links, rules, shown
from approvals.models import PendingAction, Verdict
from approvals.present import people
from approvals.present.after import Task
from approvals.present.parts import Fact, May
from approvals.present.sheet import technical


@dataclass(frozen=True, slots=True)
class Ended:
    """What a person said."""

    words: str
    name: str
    at: datetime
    comment: str


@dataclass(frozen=True, slots=True)
class Paused:
    """Everything on the page of one question of kind *take over*."""

    sentence: str
    opened_at: datetime
    is_open: bool
    status: str
    facts: tuple[Fact, ...]
    detail: str
    task: Task | None
    may: May
    verdicts: tuple[str, ...]
    digest: str
    generation: int
    decide_url: str
    technical: tuple[Fact, ...]
    decided: Ended | None


def paused(action: PendingAction, user_id: uuid.UUID) -> Paused:
    """The page of one takeover for one person."""
    seen = shown.read(action.shown)
    facts = seen.get("facts")
    known: Mapping[str, Any] = facts if isinstance(facts, Mapping) else {}
    last = next(reversed(rules.given(action)), None)
    url = links.task(action.run_id)
    return Paused(
        sentence=str(seen["sentence"]),
        opened_at=action.opened_at,
        is_open=action.status == PendingAction.Status.OPEN,
        status=action.status,
        facts=_facts(known),
        detail=str(known.get("detail") or ""),
        task=Task(str(known.get("goal") or _("Open the task")), url) if url else None,
        may=people.may(action, user_id),
        verdicts=tuple(seen["verdicts"]),
        digest=shown.digest_of(action.shown),
        generation=int(seen["generation"]),
        decide_url=links.verb("decide", action.pk),
        technical=technical(action, seen),
        decided=Ended(str(Verdict(last.verdict).label), str(last.user), last.at, last.comment)
        if last
        else None,
    )


def _facts(known: Mapping[str, Any]) -> tuple[Fact, ...]:
    labels = {"goal": _("Task"), "steps_ended": _("Steps that are done"), "code": _("Reason code")}
    found = [
        Fact(labels.get(name, name), str(value), mono=name == "code")
        for name, value in known.items()
        if name != "detail" and value not in ("", None)
    ]
    return tuple(found)
