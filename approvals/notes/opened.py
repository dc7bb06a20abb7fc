"""A question stands: ``action.opened``. Asked anew, the note says what became of the one before."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts.letters import Letter
from accounts.models import User
from accounts.said import read
from approvals import shown
from approvals.models import PendingAction
from approvals.notes import common
from approvals.notes.common import path
from outbox.kinds import UNKNOWN, WAITS

__all__ = ["kind_of", "kinds", "letter", "path", "recipients"]

Kind = PendingAction.Kind
kinds = (WAITS, UNKNOWN)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    """Finding out what happened is a kind of its own."""
    action = common.find(payload)
    return UNKNOWN if action is not None and action.kind == Kind.SETTLE else WAITS


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """Everybody who may decide it now."""
    action = common.find_open(payload)
    return common.deciders(action) if action is not None else []


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """The question in one sentence and the address of its page; None when it does not stand any more."""
    action = common.find_open(payload)
    if action is None:
        return None
    lead, subject = _lead(action), _subject(action)
    why = ""
    if action.kind == Kind.APPROVE and action.successor_of is not None:
        why = read(action.successor_of.void_reason).rstrip(".")
        lead = _(
            "What was asked before does not hold any more%(why)s. Here is the question anew, in a task of %(who)s:"
        )
        subject = _("To decide again: %(sentence)s")
    elif action.kind == Kind.APPROVE and shown.read(action.shown).get("sent_back"):
        lead = _("Changes were asked for, and this is what the agent proposes now, in a task of %(who)s:")
        subject = _("To decide, changed: %(sentence)s")
    return common.letter(action, user, subject=subject, lead=lead, facts={"why": f": {why}" if why else ""})


def _lead(action: PendingAction) -> str:
    if action.kind == Kind.SETTLE:
        return _(
            "Nobody can tell whether this happened, in a task of %(who)s. A person has to find out and record it:"
        )
    if action.kind == Kind.TAKE_OVER:
        return _("A task of %(who)s cannot go on by itself:")
    if action.kind == Kind.ANSWER:
        return _("An agent asks you for an answer, in a task of %(who)s:")
    return _("An agent asks for your decision, in a task of %(who)s:")


def _subject(action: PendingAction) -> str:
    if action.kind == Kind.SETTLE:
        return _("Outcome unknown: %(sentence)s")
    if action.kind == Kind.TAKE_OVER:
        return _("Needs a hand: %(sentence)s")
    return _("To decide: %(sentence)s")
