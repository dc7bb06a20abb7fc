"""Hand a question to one person who may decide it, and take it back from them.

Handing over gives no right and takes four eyes from nobody: it names who of those who may is asked. While the named
person is away, whoever stands in for them may decide too, if they may decide at all. Lock order: PendingAction, audit head.
"""

import uuid

from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from accounts import rights
from accounts.again import again
from accounts.canonical import BadInput, check_storable
from accounts.models import Role, User
from approvals import announce, rules
from approvals.errors import BadAnswer, NotAllowed
from approvals.models import Decision, PendingAction
from approvals.standing import lock_open, must_decide
from tools.reasons import Reason

LONGEST_NOTE = 300


@again
def delegate(
    *, action_id: uuid.UUID, user_id: uuid.UUID, to_id: uuid.UUID, note: str = "", channel: str = "web"
) -> PendingAction:
    """Hand an open question, which this person may decide now, to another who may. Owns its transaction.

    Whoever held a claim holds it no more, and with several signatures the next one is asked of that person. Raises
    NotAllowed (this person may not decide it, or the other may not: the reason says which), BadAnswer, AlreadyDecided,
    Expired.
    """
    words = " ".join(note.split())
    try:
        check_storable(words)
    except BadInput as error:
        raise BadAnswer("note", gettext("This holds a sign that cannot be stored.")) from error
    if len(words) > LONGEST_NOTE:
        raise BadAnswer("note", gettext("This is too long: at most %s characters.") % LONGEST_NOTE)
    with transaction.atomic(durable=True):
        action = lock_open(action_id)
        user = must_decide(action, user_id)
        if reasons := unfit(action, to_id, by=user_id):
            raise NotAllowed(reasons)
        to = User.objects.get(pk=to_id)
        PendingAction.everywhere.filter(pk=action_id).update(
            assignee=to, delegated_by=user, handed_note=words, claimed_by=None, claimed_until=None
        )
        payload = {"note": words, "before": action.assignee_id.hex if action.assignee_id else ""}
        announce.delegated(action, payload, to=to, actor=user, channel=channel)
    return action


@again
def undelegate(*, action_id: uuid.UUID, user_id: uuid.UUID, channel: str = "web") -> PendingAction:
    """Nobody in particular is asked any more. Allowed to the person it was handed to, to whoever handed it over, and to
    administrators. Owns its transaction. Raises NotAllowed, AlreadyDecided, Expired."""
    with transaction.atomic(durable=True):
        action = lock_open(action_id)
        if not may_undelegate(action, user_id):
            text = _(
                "Only the person it was handed to, whoever handed it over and administrators may do this."
            )
            raise NotAllowed([Reason("not_yours", text)])
        PendingAction.everywhere.filter(pk=action_id).update(assignee=None, delegated_by=None, handed_note="")
        payload = {"from": action.assignee_id.hex if action.assignee_id else ""}
        announce.handled(action, "undelegated", payload, actor=rules.person(user_id), channel=channel)
    return action


def may_undelegate(action: PendingAction, user_id: uuid.UUID) -> bool:
    """Whether this person may take it back from whom it was handed to."""
    if action.assignee_id is None:
        return False
    member = rights.membership(user_id=user_id, tenant_id=action.tenant_id)
    if member is None:
        return False
    return user_id in (action.assignee_id, action.delegated_by_id) or Role.ADMINISTRATOR in member.roles


def unfit(action: PendingAction, to_id: uuid.UUID, *, by: uuid.UUID) -> list[Reason]:
    """Why the question cannot be handed to this person; empty when it can."""
    if to_id == by:
        return [
            Reason("yourself", _("You can decide it yourself. Claim it to keep it to yourself for a while."))
        ]
    if to_id == action.assignee_id:
        return [Reason("theirs", _("It was handed to this person already."))]
    if Decision.everywhere.filter(action=action, user_id=to_id).exists():
        return [Reason("answered", _("This person has given their answer already."))]
    if why := rules.unfit(action=action, user_id=to_id):
        text = _("This person may not decide it, so it stays where it is. Choose one of those who may.")
        return [Reason(why[0].code, text)]
    return []
