"""Take a grant back, or one's own signature while others have not signed yet: whoever may say no may say so until the
effect begins.

Who wins: the action's row is locked here and in begin, so either the grant is void before anything is sent, or begin was
faster and the answer says so. Lock order: PendingAction, Intent, audit head.
"""

import uuid

from django.db import transaction

from accounts import audit, ids
from accounts.again import again
from accounts.arrows import move
from accounts.failpoints import fp
from accounts.models import User
from approvals import announce, rules, sentences
from approvals.clock import db_now
from approvals.errors import NotAllowed, NotGranted, TooLate
from approvals.models import PendingAction, Verdict
from tools import intents
from tools.models import Intent

Status = PendingAction.Status
REASON_LENGTH = 200


@again
def take_back(*, action_id: uuid.UUID, user_id: uuid.UUID, channel: str, reason: str = "") -> PendingAction:
    """Make an approval void that was not used yet, or withdraw a question that this person has signed; the engine asks
    anew. Owns its transaction.

    Allowed to everybody who could have rejected it, so also to the submitter. Raises NotAllowed, NotGranted (it was never
    approved, or is void already) and TooLate (begin was faster; that somebody tried is kept). Each changes nothing.
    """
    with transaction.atomic(durable=True):
        action: PendingAction = PendingAction.everywhere.select_for_update(of=("self",)).get(pk=action_id)
        if reasons := rules.refusals(action=action, user_id=user_id, verdict=Verdict.REJECT):
            raise NotAllowed(reasons)
        signed = action.status == Status.OPEN and any(
            one.user_id == user_id for one in rules.signatures(action)
        )
        granted = action.status in (Status.APPROVED, Status.CONSUMED)
        if action.kind != PendingAction.Kind.APPROVE or not (signed or granted):
            raise NotGranted
        user = User.objects.get(pk=user_id)
        late = action.status == Status.CONSUMED
        if late:
            _note_late(action, user, channel)
        else:
            _void(action, user, channel, " ".join(reason.split())[:REASON_LENGTH])
        fp("taken_back.before_commit")
    fp("taken_back.committed")
    if late:
        raise TooLate
    return action


def _void(action: PendingAction, user: User, channel: str, reason: str) -> None:
    said = (sentences.TAKEN_BACK_WHY(name=user, why=reason) if reason else sentences.TAKEN_BACK(name=user))[
        :300
    ]
    # The engine has acted on the approval; it has to act again.
    if action.status == Status.OPEN:
        move(action, "withdraw", changes={"void_reason": said, "decided_at": db_now()})
    else:
        move(action, "void", changes={"void_reason": said, "applied_at": None})
    intent = Intent.everywhere.select_for_update(of=("self",)).filter(grant=action.pk).first()
    if intent is not None and intent.status == Intent.Status.AUTHORISED:
        intents.revoke(intent_id=intent.pk, evidence={"what": "grant_taken_back", "by": user.pk.hex})
    announce.closed(action, "taken_back", {"reason": reason}, actor=user, channel=channel, decided=True)


def _note_late(action: PendingAction, user: User, channel: str) -> None:
    audit.append(
        tenant_id=action.tenant_id,
        act="action.taken_back_too_late",
        subject=("action", ids.public("pendingaction", action.pk)),
        payload={"digest": action.digest},
        actor=user,
        channel=channel,
        run_id=action.run_id,
    )
