"""What the outside is told, in which words. Bodies are thin: ids, states and the address of a page, never arguments, goals
or documents; whoever may see more reads it through the API."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from accounts import ids
from accounts.audit import ALERT
from approvals import links
from outbox.webhooks import events
from outbox.webhooks.events import Event, EventType

#: State of a run that waits or has ended → event type.
RUN_STATES: Final = {
    "WAITING_APPROVAL": "run.waiting_for_person",
    "WAITING_EXTERNAL": "run.waiting",
    "PAUSED": "run.paused",
    "SUCCEEDED": "run.succeeded",
    "FAILED": "run.failed",
    "CANCELLED": "run.cancelled",
}
#: Kind of what waits for a person → event type.
ACTION_KINDS: Final = {
    "approve": "action.approval_requested",
    "settle": "action.outcome_unknown",
    "take_over": "action.takeover_requested",
    "answer": "action.answer_requested",
}
TYPES: Final = (
    EventType("run.submitted", _("A task was submitted.")),
    EventType("run.waiting_for_person", _("A task waits for a person: an action of it says for what.")),
    EventType(
        "run.waiting",
        _("A task waits for something else: a time, a signal, a tool that is switched off or at its limit."),
    ),
    EventType("run.paused", _("A task is paused.")),
    EventType("run.succeeded", _("A task is done.")),
    EventType("run.failed", _("A task has failed.")),
    EventType("run.cancelled", _("A task was cancelled.")),
    EventType("action.approval_requested", _("Something waits for approval.")),
    EventType(
        "action.outcome_unknown", _("Nobody can tell whether something happened: a person has to find out.")
    ),
    EventType("action.takeover_requested", _("A task cannot go on by itself: a person has to take over.")),
    EventType("action.answer_requested", _("An agent asks a person for an answer.")),
    EventType("action.reminder", _("Something has waited: those who may decide it are reminded.")),
    EventType("action.escalated", _("Something has waited for too long: the escalation owner is told.")),
    EventType(
        "action.undecidable",
        _("Nobody can decide something any more: it has gone to the escalation owner."),
    ),
    EventType("action.decidable", _("Enough people can decide again what nobody could.")),
    EventType("action.closed", _("What waited for a person does so no more: its state says why.")),
    EventType("contract.review_requested", _("A contract of a tool waits for a second administrator.")),
    EventType("contract.sent_back", _("A second administrator sent a contract of a tool back.")),
    EventType("artifact.damaged", _("A stored file was found damaged or missing.")),
    EventType("alert.raised", _("Something needs the attention of an administrator.")),
    EventType(events.TEST, _("Sent by the test button.")),
)


def wire() -> None:
    """Tell the post room; called once, when Django is ready."""
    events.register(TYPES, _MAKERS, lambda topic, payload: _MAKERS[topic](payload))


def _submitted(payload: Mapping[str, Any]) -> Event:
    return Event("run.submitted", _run(payload["run_id"]))


def _run_state(payload: Mapping[str, Any]) -> Event:
    status = str(payload["status"])
    return Event(RUN_STATES[status], {**_run(payload["run_id"]), "status": status})


def _opened(payload: Mapping[str, Any]) -> Event:
    return Event(ACTION_KINDS[str(payload["kind"])], _action(payload))


def _told(topic: str) -> Callable[[Mapping[str, Any]], Event]:
    return lambda payload: Event(topic, _action(payload))


def _closed(payload: Mapping[str, Any]) -> Event:
    return Event("action.closed", _action(payload))


def _review(payload: Mapping[str, Any]) -> Event:
    asked = payload["act"] == "contract.review_asked"
    data = {"tool": str(payload["tool"]), "version": payload["version"]}
    return Event("contract.review_requested" if asked else "contract.sent_back", data)


def _damaged(payload: Mapping[str, Any]) -> Event:
    run = _run(payload["run_id"]) if payload.get("run_id") else {}
    return Event("artifact.damaged", {**run, "artifact": _public("artifact", payload["artifact"])})


def _alert(payload: Mapping[str, Any]) -> Event:
    run = _run(payload["run_id"]) if payload.get("run_id") else {}
    return Event("alert.raised", {**run, "code": str(payload["code"])})


def _run(run_id: str) -> dict[str, Any]:
    public = _public("run", run_id)
    return {"run": public, "link": f"{settings.PUBLIC_URL}/tasks/{public}/"}


def _action(payload: Mapping[str, Any]) -> dict[str, Any]:
    action_id = uuid.UUID(str(payload["action_id"]))
    return {
        "action": ids.public("pendingaction", action_id),
        "run": _public("run", payload["run_id"]),
        "kind": payload["kind"],
        "status": payload["status"],
        "link": settings.PUBLIC_URL + links.action(action_id),
    }


def _public(kind: str, text: str) -> str:
    return ids.public(kind, uuid.UUID(str(text)))


_MAKERS: Final = {
    "run.submitted": _submitted,
    "run.waiting": _run_state,
    "run.finished": _run_state,
    "action.opened": _opened,
    "action.closed": _closed,
    **{
        topic: _told(topic)
        for topic in ("action.reminder", "action.escalated", "action.undecidable", "action.decidable")
    },
    "contract.review": _review,
    "artifact.damaged": _damaged,
    ALERT: _alert,
}
