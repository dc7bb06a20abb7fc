"""A question was handed to one person: ``action.delegated``. While they are away, to who stands in for them."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts.letters import Letter
from accounts.models import User
from accounts.rights import membership
from approvals.models import PendingAction
from approvals.notes import common
from approvals.notes.common import path
from outbox.kinds import DELEGATED

__all__ = ["kind_of", "kinds", "letter", "path", "recipients"]

kinds = (DELEGATED,)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    return DELEGATED


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """The person it was handed to, while it is theirs; while they are away, who stands in for them."""
    action = _theirs(payload)
    if action is None or action.assignee is None:
        return []
    stand_in = common.stand_ins(action, [action.assignee]).get(action.assignee.pk)
    told = stand_in or action.assignee
    return [told] if membership(user_id=told.pk, tenant_id=action.tenant_id) else []


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """Who handed it over."""
    action = _theirs(payload)
    if action is None or action.assignee is None:
        return None
    facts = {
        "by": action.delegated_by.name if action.delegated_by else _("Somebody"),
        "for": action.assignee.name,
    }
    lead = _("%(by)s handed this to you, in a task of %(who)s:")
    if user.pk != action.assignee_id:
        lead = _("%(for)s is away and you stand in. %(by)s handed this to them, in a task of %(who)s:")
    return common.letter(action, user, subject=_("Handed to you: %(sentence)s"), lead=lead, facts=facts)


def _theirs(payload: Mapping[str, Any]) -> PendingAction | None:
    """The action, while it is still with the person whom the event names."""
    action = common.find_open(payload)
    named = str(payload.get("user_id", ""))
    if action is None or action.assignee is None or (named and named != action.assignee.pk.hex):
        return None
    return action
