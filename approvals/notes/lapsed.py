"""A question ended without anything being done, or a grant does not hold any more: ``action.closed``."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts.letters import Letter
from accounts.models import User
from accounts.rights import membership
from accounts.said import read
from approvals import rules
from approvals.models import PendingAction
from approvals.notes import common
from approvals.notes.common import path
from outbox.kinds import LAPSED

__all__ = ["kind_of", "kinds", "letter", "path", "recipients"]

Status = PendingAction.Status
kinds = (LAPSED,)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    return LAPSED


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """Who signed what was taken back or voided, but for who did so; who asked for what nobody decided in time. Nobody for
    the rest: it was decided, and the task says how."""
    action = common.find(payload)
    if action is None or action.status != payload.get("status"):
        return []
    people: list[User] = []
    if action.status == Status.EXPIRED:
        people = [action.submitter]
    elif action.status == Status.VOIDED or (action.status == Status.WITHDRAWN and action.void_reason):
        people = [one.user for one in rules.signatures(action) if one.user is not None]
    by = str(payload.get("by", ""))
    others = [user for user in people if user.pk.hex != by]
    return [user for user in others if membership(user_id=user.pk, tenant_id=action.tenant_id)]


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """What became of it, and why."""
    action = common.find(payload)
    if action is None:
        return None
    if action.status == Status.EXPIRED:
        lead = _("Nobody decided this in time, so it was denied:")
        return common.letter(
            action, user, subject=_("Not decided in time: %(sentence)s"), lead=lead, facts={}
        )
    why = read(action.void_reason).rstrip(".") or _("the reason is on its page")
    lead = _("You signed this, and it does not hold any more: %(why)s. Nothing was done:")
    subject = _("Does not hold any more: %(sentence)s")
    return common.letter(action, user, subject=subject, lead=lead, facts={"why": why})
