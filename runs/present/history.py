"""The history in words: one line for each event, in the language of the page."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.said import read
from runs.models import Event

#: The words of each type of event. A type that is missing here is shown as it is stored.
WORDS = {
    "run.submitted": gettext_noop("Task submitted"),
    "run.succeeded": gettext_noop("Task done"),
    "run.failed": gettext_noop("Task failed: %(text)s"),
    "run.cancel_requested": gettext_noop("Cancellation asked for: %(reason)s"),
    "run.cancelled": gettext_noop("Task cancelled"),
    "run.stopped": gettext_noop("Task stopped: %(reason)s"),
    "run.lifted": gettext_noop("The stop is lifted, the task goes on"),
    "run.taken_over": gettext_noop("It cannot go on by itself: %(why)s"),
    "run.takeover_answered": gettext_noop("A person answered the takeover"),
    "run.limit_raised": gettext_noop("A person allowed more: %(limit)s, %(before)s becomes %(after)s"),
    "run.orphaned": gettext_noop("Nobody held the task; it is looked after again: %(why)s"),
    "step.stood_in": gettext_noop("%(to)s stands in for %(from)s: %(step)s"),
    "step.sending": gettext_noop("Being sent: %(step)s"),
    "step.blocked": gettext_noop("Held back before sending: %(step)s: %(why)s"),
    "step.succeeded": gettext_noop("Step done: %(step)s"),
    "step.failed": gettext_noop("Step failed: %(step)s: %(text)s"),
    "step.retried": gettext_noop("Attempt failed, tried again: %(step)s: %(text)s"),
    "step.lost": gettext_noop("Worker lost, step goes to another: %(step)s"),
    "step.drained": gettext_noop("Step given back unfinished: %(step)s"),
    "step.waiting": gettext_noop("Step waits before sending: %(step)s"),
    "step.over_quota": gettext_noop("Waits for the quota of its tool: %(step)s: %(why)s"),
    "step.in_line": gettext_noop("Waits for its turn: %(step)s: %(why)s"),
    "step.withheld": gettext_noop("Its worker fell silent: %(step)s: %(why)s"),
    "step.unknown": gettext_noop("Outcome unknown: %(step)s: %(text)s"),
    "run.compensating": gettext_noop("Undoing begins, the last effect first: %(effects)s to undo"),
    "run.compensated": gettext_noop("Nothing is left to undo"),
    "undo.planned": gettext_noop("To come: %(step)s"),
    "undo.failed": gettext_noop("Failed for good, a person is asked: %(step)s: %(text)s"),
    "effect.undone": gettext_noop("Undone: %(step)s"),
    "step.sent_again": gettext_noop("No answer; sent again under the same key: %(step)s"),
    "effect.check_again": gettext_noop("A person has the other side asked: %(step)s"),
    "effect.bounced": gettext_noop("A mail server reports about the letter (%(action)s): %(step)s: %(text)s"),
    "step.cancelled": gettext_noop("Step cancelled: %(step)s"),
    "step.skipped": gettext_noop("Step left out: %(step)s"),
    "step.left_out": gettext_noop("Left out by a person, the task goes on after it: %(step)s"),
    "step.resumed": gettext_noop("Step goes on: %(step)s: %(why)s"),
    "step.drift": gettext_noop("The agent asked again with other content; the first counts: %(step)s"),
    "artifact.damaged": gettext_noop("File damaged or gone: %(name)s"),
    "artifact.remade": gettext_noop("File made again, with the same content: %(name)s"),
    "artifact.not_remade": gettext_noop("File could not be made again as it was: %(name)s"),
    "approval.asked": gettext_noop("Approval asked: %(sentence)s"),
    "approval.voided": gettext_noop("Approval lapsed: %(step)s: %(why)s"),
    "approval.edited": gettext_noop("Changed by a person before it was sent, asked anew: %(step)s: %(why)s"),
    "approval.taken_back": gettext_noop("Approval taken back: %(step)s: %(why)s"),
}
#: The same for steps in which the agent only says what comes next; they have no name of their own.
PLANNING = {
    "step.succeeded": gettext_noop("The agent said what comes next"),
    "step.failed": gettext_noop("The agent could not say what comes next: %(text)s"),
    "step.retried": gettext_noop("The agent is asked again: %(text)s"),
    "step.lost": gettext_noop("Worker lost while planning, another goes on"),
    "step.drained": gettext_noop("Planning given back unfinished"),
    "step.cancelled": gettext_noop("Planning cancelled"),
}
#: Families to filter by: the part of a type before the dot.
FAMILIES = {
    "run": gettext_noop("Task"),
    "step": gettext_noop("Steps"),
    "approval": gettext_noop("Approvals"),
    "effect": gettext_noop("Effects"),
    "artifact": gettext_noop("Files"),
}


class _Facts(dict[str, Any]):
    """Facts for a sentence: what is not there is left out of it."""

    def __missing__(self, key: str) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Line:
    """One event as a row of ``components/chain.html``. ``mono``: the actor is a machine."""

    sequence: int
    at: datetime
    text: str
    who: str
    mono: bool
    hash: str


def lines(events: Iterable[Event], names: Mapping[uuid.UUID, str], people: Mapping[str, str]) -> list[Line]:
    """Events in words. ``names`` are step titles by id; ``people`` names by the actor text of the event."""
    return [_line(event, names, people) for event in events]


def _line(event: Event, names: Mapping[uuid.UUID, str], people: Mapping[str, str]) -> Line:
    key = str(event.payload.get("key") or "")
    step = names.get(event.step_id) if event.step_id else None
    said = {name: read(value) if isinstance(value, str) else value for name, value in event.payload.items()}
    facts = _Facts(said, step=step or key or _("a step"))
    planning = step is None and key.startswith("plan/")
    words = PLANNING.get(event.type) if planning else WORDS.get(event.type)
    text = (_(words) % facts).strip(" :") if words else f"{event.type} {key}".strip()
    who = people.get(event.actor)
    return Line(event.sequence, event.at, text, who or event.actor, who is None, bytes(event.hash).hex())


@dataclass(frozen=True, slots=True)
class Chain:
    """Whether the history is whole; ``broken_at`` is the first event that does not fit, else 0."""

    ok: bool
    text: str
    broken_at: int = 0


def chain(problems: Sequence[str]) -> Chain:
    """The verdict of ``runs.timeline.verify`` as one line."""
    if not problems:
        return Chain(True, _("chain verified"))
    first = next((int(word) for word in problems[0].split() if word.isdigit()), 0)
    return Chain(False, problems[0], first)


def as_json(event: Event) -> dict[str, Any]:
    """One event as the export has it: everything its hash covers."""
    return {
        "sequence": event.sequence,
        "at": event.at.isoformat(),
        "type": event.type,
        "step": str(event.step_id) if event.step_id else None,
        "actor": event.actor,
        "epoch": event.epoch,
        "fence": event.fence,
        "input_digest": event.input_digest,
        "artifacts": list(event.artifacts),
        "payload": event.payload,
        "hash": bytes(event.hash).hex(),
    }
