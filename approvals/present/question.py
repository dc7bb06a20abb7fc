"""The page of a question that an agent asks: why it asks, and what was answered."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accounts.said import read
from approvals import links, rules, shown
from approvals.models import PendingAction, Verdict
from approvals.present import people
from approvals.present.after import Task
from approvals.present.parts import Fact, May
from approvals.present.paused import Ended
from approvals.present.sheet import technical


@dataclass(frozen=True, slots=True)
class Question:
    """Everything on the page of one question of kind *answer*, its form aside. ``answers`` are what was answered, by the
    titles of the form."""

    sentence: str
    opened_at: datetime
    expires_at: datetime | None
    is_open: bool
    status: str
    facts: tuple[Fact, ...]
    task: Task | None
    may: May
    digest: str
    generation: int
    decide_url: str
    technical: tuple[Fact, ...]
    decided: Ended | None
    answers: tuple[Fact, ...]


def question(action: PendingAction, user_id: uuid.UUID) -> Question:
    """The page of one question for one person."""
    seen = shown.read(action.shown)
    facts = seen.get("facts")
    known: Mapping[str, Any] = facts if isinstance(facts, Mapping) else {}
    last = next(reversed(rules.given(action)), None)
    url = links.task(action.run_id)
    return Question(
        sentence=read(str(seen["sentence"])),
        opened_at=action.opened_at,
        expires_at=action.expires_at,
        is_open=action.status == PendingAction.Status.OPEN,
        status=action.status,
        facts=_facts(known),
        task=Task(str(known.get("goal") or _("Open the task")), url) if url else None,
        may=people.may(action, user_id),
        digest=shown.digest_of(action.shown),
        generation=int(seen["generation"]),
        decide_url=links.verb("decide", action.pk),
        technical=technical(action, seen),
        decided=Ended(str(Verdict(last.verdict).label), str(last.user or _("nobody")), last.at, last.comment)
        if last
        else None,
        answers=_answers(known.get("schema"), last.answer) if last else (),
    )


def _facts(known: Mapping[str, Any]) -> tuple[Fact, ...]:
    labels = {"goal": _("Task"), "why": _("Why it asks")}
    return tuple(Fact(label, str(known[name])) for name, label in labels.items() if known.get(name))


def _answers(schema: Any, answer: Any) -> tuple[Fact, ...]:
    if not isinstance(answer, Mapping):
        return ()
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    titles = {name: str(of.get("title") or name) for name, of in properties.items()}
    return tuple(Fact(_(titles.get(str(name)) or str(name)), _value(value)) for name, value in answer.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
