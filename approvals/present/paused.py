"""The page of a run that a person must take over: why it paused, and two ways on."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from accounts.said import read
from approvals import links, rules, shown
from approvals.models import PendingAction, Verdict
from approvals.present import people
from approvals.present.after import Task
from approvals.present.parameters import Parameter, parameters
from approvals.present.parts import Fact, May
from approvals.present.sheet import technical

#: The least that is offered: with one step more the task would stand here again at once.
LEAST = 10


@dataclass(frozen=True, slots=True)
class Ended:
    """What a person said."""

    words: str
    name: str
    at: datetime
    comment: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What a person adds to the limit that stopped the run, to continue: the field's words, its step and first value."""

    label: str
    hint: str
    value: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A place to go on from: how it is called, and what it will do."""

    name: str
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class Paused:
    """Everything on the page of one question of kind *take over*."""

    sentence: str
    opened_at: datetime
    is_open: bool
    status: str
    facts: tuple[Fact, ...]
    detail: str
    done: tuple[Fact, ...]
    halted: tuple[Fact, ...]
    parameters: tuple[Parameter, ...]
    suggestion: str
    entry: str
    entries: tuple[Entry, ...]
    offer: Offer | None
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
        sentence=read(str(seen["sentence"])),
        opened_at=action.opened_at,
        is_open=action.status == PendingAction.Status.OPEN,
        status=action.status,
        facts=_facts(known),
        detail=str(known.get("detail") or ""),
        done=_steps(known.get("done"), known.get("waiting")),
        halted=_halted(_mapping(known.get("failed"))),
        parameters=tuple(parameters(_mapping(known.get("parameters")))),
        suggestion=read(str(known.get("suggestion") or "")),
        entry=read(str(known.get("entry") or "")),
        entries=tuple(Entry(name, *read(str(words)).partition(":")[::2]) for name, words in _entries(known)),
        offer=_offer(_mapping(known.get("limit"))),
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


def _entries(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    """In the order in which they are offered, the safest first."""
    found = _mapping(known.get("entries"))
    return [(name, str(found[name])) for name in ("ask", "after") if name in found]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _facts(known: Mapping[str, Any]) -> tuple[Fact, ...]:
    labels = {"goal": _("Task"), "steps_ended": _("Steps that are done"), "code": _("Reason code")}
    return tuple(
        Fact(label, str(known[name]), mono=name == "code")
        for name, label in labels.items()
        if known.get(name) not in ("", None)
    )


def _steps(done: Any, waiting: Any) -> tuple[Fact, ...]:
    """The last steps that ended, and those that have not."""
    rows = [*(done if isinstance(done, list) else []), *(waiting if isinstance(waiting, list) else [])]
    return tuple(Fact(str(row.get("title") or row.get("key")), _state(row)) for row in map(_mapping, rows))


def _state(row: Mapping[str, Any]) -> str:
    said = {
        "SUCCEEDED": _("Done"),
        "FAILED": _("Failed"),
        "SKIPPED": _("Skipped"),
        "CANCELLED": _("Cancelled"),
        "PENDING": _("To come"),
        "RUNNING": _("Running"),
        "UNKNOWN": _("Unknown outcome"),
        "WAITING_APPROVAL": _("Waiting for a person"),
        "WAITING_EXTERNAL": _("Waiting"),
    }
    status = str(row.get("status") or "")
    return said.get(status, status)


def _halted(failed: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The step at which it came to a halt."""
    labels = {
        "title": _("Step"),
        "tool": _("Tool"),
        "code": _("Error"),
        "text": _("What the tool said"),
        "attempts": _("Attempts"),
        "reference": _("Reference of what was done"),
    }
    return tuple(
        Fact(label, read(str(failed[name])), mono=name in ("tool", "code", "reference"))
        for name, label in labels.items()
        if failed.get(name) not in ("", None)
    )


def _offer(limit: Mapping[str, Any]) -> Offer | None:
    """The field that adds to a limit; half of it again is the first value."""
    labels = {
        "steps": _("How many more steps"),
        "tool_calls": _("How many more tool calls"),
        "model_calls": _("How many more model calls"),
        "tokens": _("How many more tokens"),
        "cost": _("How much more money"),
        "wall_seconds": _("How many more seconds of working time"),
        "deadline": _("How many more seconds, from now"),
    }
    name = str(limit.get("name") or "")
    if name not in labels:
        return None
    timed = name in ("wall_seconds", "deadline")
    hint = _("3600 seconds are one hour") if timed else ""
    return Offer(
        labels[name], hint, "3600" if timed else _half(limit.get("limit"), 1 if name == "cost" else LEAST)
    )


def _half(limit: Any, least: int) -> str:
    try:
        return str(max(least, int(Decimal(str(limit)) / 2)))
    except (InvalidOperation, ValueError):
        return str(least)
