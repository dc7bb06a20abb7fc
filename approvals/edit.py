"""Edit: an approver changes what would be sent. The question that stands is closed with every signature on it, and the
next version of it is asked: what one person approved never covers what another one wrote (fault B61).

The workshop judges the new arguments and asks (``runs.verbs.edit_proposal``); these are the desk's two halves of it. Both
join the caller's transaction.
"""

import uuid
from datetime import datetime

from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.arrows import move
from accounts.models import User
from approvals import announce, rules, sentences
from approvals.clock import db_now
from approvals.decide import Sight, check_standing
from approvals.errors import NotAllowed, Stale
from approvals.models import PendingAction, Verdict

Kind = PendingAction.Kind


def check(action: PendingAction, *, user_id: uuid.UUID, sight: Sight, now: datetime | None = None) -> None:
    """Whether this person may change what this question is about, now, having seen it so. ``action`` is locked.

    Allowed to whoever may ask for changes: people with the right to decide, never the submitter. Raises what
    :func:`approvals.decide.decide` raises; each changes nothing.
    """
    check_standing(action, sight, now)
    if action.kind != Kind.APPROVE:
        raise Stale(_("Only what waits for an approval can be edited. Nothing has changed."))
    if reasons := rules.refusals(action=action, user_id=user_id, verdict=Verdict.ASK_CHANGES):
        raise NotAllowed(reasons)


def close(action: PendingAction, *, user: User, channel: str) -> int:
    """Close the version that was edited; how many had signed it. The next one must be asked in the same transaction, so
    there is nothing left for the engine to do about this one."""
    signed = len(rules.signatures(action))
    words = sentences.EDITED_SIGNED(name=user, signed=signed) if signed else sentences.EDITED(name=user)
    move(action, "withdraw", changes={"decided_at": db_now(), "void_reason": words, "applied_at": Now()})
    announce.closed(action, "edited", {"signed": signed}, actor=user, channel=channel)
    return signed
