"""Expire: time ran out, which denies. The action closes and the wait ends in one transaction (B54)."""

import uuid

from django.db import transaction
from django.db.models.functions import Now

from accounts.again import again
from accounts.failpoints import fp
from approvals.expire import expire as close
from approvals.models import PendingAction
from runs import sentences
from runs.engine.each import each
from runs.engine.ending import end_step, lock_step
from runs.engine.record import settle_down
from runs.engine.workspace import locked_one
from runs.models import Step
from tools import intents
from tools.models import Intent


def expire_due(*, limit: int = 100) -> int:
    """Closes what is due; how many. One that fails does not stop the others."""
    due = PendingAction.everywhere.filter(status=PendingAction.Status.OPEN, expires_at__lte=Now())
    found = list(due.order_by("expires_at").values_list("pk", flat=True)[:limit])
    failing = "action %s could not expire; it is tried again"
    return each(found, lambda action_id: expire(action_id=action_id), failing=failing)


@again
def expire(*, action_id: uuid.UUID) -> bool:
    """One action; False when a person was faster or it is not due by the database's clock. Owns its transaction."""
    seen = PendingAction.everywhere.filter(pk=action_id).first()
    if seen is None:
        return False
    with transaction.atomic(durable=True):
        workspace, run = locked_one(seen.run_id)
        step = lock_step(seen.step_id) if seen.step_id else None
        if run is None or not close(action_id=action_id):
            return False
        if seen.intent_id:
            intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=seen.intent_id)
            if intent.status in (Intent.Status.PROPOSED, Intent.Status.AUTHORISED):
                intents.void(intent_id=intent.pk)
        if step is not None and step.status == Step.Status.WAITING_APPROVAL:
            asked = seen.kind == PendingAction.Kind.ANSWER
            code = "expired" if asked else "approval_expired"
            text = sentences.NOT_ANSWERED if asked else sentences.NOT_DECIDED
            end_step(run, step, "fail", code=code, text=text(), extra={"action": action_id.hex})
        PendingAction.everywhere.filter(pk=action_id).update(applied_at=Now())
        settle_down(workspace)
        fp("expire.before_commit")
    return True
