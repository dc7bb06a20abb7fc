"""What people read for each state: a tone, a mark and a word.

The keys are the states of ``runs``, ``tools`` and ``approvals`` as they are stored. A state that is missing
here is a defect: ``tests/house/test_state_words.py`` compares this table with the state machines.
"""

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Look:
    """How one state is shown: colour, shape, word."""

    tone: str
    mark: str
    word: str | Promise


WORDS: Final[dict[str, dict[str, Look]]] = {
    "run": {
        "PENDING": Look("stopped", "tocome", _("Not begun")),
        "RUNNING": Look("running", "running", _("Running")),
        "WAITING_APPROVAL": Look("waiting", "waiting", _("Waiting for approval")),
        "WAITING_EXTERNAL": Look("waiting", "waiting", _("Waiting")),
        "PAUSED": Look("stopped", "paused", _("Paused")),
        "COMPENSATING": Look("running", "undoing", _("Undoing")),
        "CANCEL_REQUESTED": Look("stopped", "stopping", _("Stopping")),
        "SUCCEEDED": Look("done", "done", _("Done")),
        "FAILED": Look("failed", "failed", _("Failed")),
        "CANCELLED": Look("stopped", "stopped", _("Cancelled")),
    },
    "step": {
        "PENDING": Look("stopped", "tocome", _("To come")),
        "RUNNING": Look("running", "running", _("Running")),
        "WAITING_APPROVAL": Look("waiting", "waiting", _("Waiting for approval")),
        "WAITING_EXTERNAL": Look("waiting", "waiting", _("Waiting")),
        "UNKNOWN": Look("unknown", "unknown", _("Unknown outcome")),
        "SUCCEEDED": Look("done", "done", _("Done")),
        "FAILED": Look("failed", "failed", _("Failed")),
        "SKIPPED": Look("stopped", "stopped", _("Left out")),
        "CANCELLED": Look("stopped", "stopped", _("Cancelled")),
    },
    "intent": {
        "PROPOSED": Look("waiting", "waiting", _("Proposed")),
        "AUTHORISED": Look("waiting", "waiting", _("Approved, not sent yet")),
        "DISPATCHED": Look("running", "running", _("Being sent")),
        "CONFIRMED": Look("done", "done", _("Sent and confirmed")),
        "REJECTED": Look("failed", "failed", _("Did not happen")),
        "UNKNOWN": Look("unknown", "unknown", _("Unknown outcome")),
        "ABANDONED": Look("unknown", "unknown", _("Nobody can know")),
        "COMPENSATED": Look("stopped", "undoing", _("Undone")),
        "VOIDED": Look("stopped", "stopped", _("Never sent")),
    },
    "action": {
        "OPEN": Look("waiting", "person", _("Needs a person")),
        "APPROVED": Look("waiting", "waiting", _("Approved, not sent yet")),
        "CONSUMED": Look("done", "done", _("Approved")),
        "REJECTED": Look("stopped", "stopped", _("Rejected")),
        "CHANGES_REQUESTED": Look("stopped", "undoing", _("Changes asked for")),
        "ANSWERED": Look("done", "done", _("Answered")),
        "SETTLED": Look("done", "done", _("Settled")),
        "EXPIRED": Look("stopped", "stopped", _("Expired")),
        "WITHDRAWN": Look("stopped", "stopped", _("Withdrawn")),
        "VOIDED": Look("stopped", "stopped", _("Approval lapsed")),
    },
}

# A run that waits says for whom: the kind of the open action outranks the bare state.
WAITING_ON: Final[dict[str, Look]] = {
    "approve": Look("waiting", "waiting", _("Waiting for approval")),
    "settle": Look("unknown", "unknown", _("Unknown outcome")),
    "take_over": Look("waiting", "person", _("Needs a person")),
    "answer": Look("waiting", "person", _("Waiting for an answer")),
}

STRANGE: Final = Look("unknown", "unknown", _("State not known to this page"))


def look(kind: str, status: str, waiting_on: str = "") -> Look:
    """The look of ``status`` of a ``kind`` (run, step, intent, action), any letter case.

    ``waiting_on`` is the kind of open action a run waits for (approve, settle, take_over, answer), if any.
    An unknown status is shown as such rather than hidden.
    """
    state = str(status).upper()
    if kind in ("run", "step") and state == "WAITING_APPROVAL" and waiting_on.lower() in WAITING_ON:
        return WAITING_ON[waiting_on.lower()]
    return WORDS.get(kind, {}).get(state, STRANGE)
