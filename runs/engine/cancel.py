"""Cancel: nothing new starts, open questions close, what is under way stops at a safe point, and the run ends CANCELLED
when every effect is done, cannot be undone, or settled (S10). Legal in every live state, with or without workers (B32)."""

import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import audit
from accounts.again import again
from accounts.failpoints import fp
from approvals import grants
from approvals.models import PendingAction
from approvals.withdraw import withdraw_open
from outbox import bell
from runs import sentences
from runs.engine.late import conflict
from runs.engine.record import settle_down
from runs.engine.unknown import stop
from runs.engine.workspace import Locked, locked_one
from runs.errors import AlreadyEnded, NotFound
from runs.models import Run, Step
from runs.states import RUN_TERMINAL
from tools import intents
from tools.models import Intent


@again
def cancel(*, run_id: uuid.UUID, user_id: uuid.UUID, reason: str = "", channel: str = "web") -> Run:
    """Asks a run to stop, and stops at once what has not started. Asking again changes nothing.

    Raises :class:`NotFound` and, for a run that has ended, :class:`AlreadyEnded`. Owns its transaction.
    """
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        if run is None:
            raise NotFound(_("There is no such task."))
        if run.status in RUN_TERMINAL:
            conflict(run, "cancel", subject=("run", run.id.hex), actor=user_id, channel=channel)
        elif run.status == Run.Status.COMPENSATING:
            _already_ending(run, user_id, reason, channel)
            settle_down(workspace)
        elif run.status != Run.Status.CANCEL_REQUESTED:
            _request(run, user_id, reason, channel)
            settle_down(workspace)
            bell.ring_stop(run_id)
        fp("cancel.before_commit")
    fp("cancel.committed")
    if run.status in RUN_TERMINAL and run.was == run.status:
        raise AlreadyEnded(_("The task has already ended. Nothing was changed."), run.status)
    stopped: Run = Run.everywhere.get(pk=run_id)
    return stopped


def _already_ending(run: Locked, user_id: uuid.UUID, reason: str, channel: str) -> None:
    """Effects of a failed run are being undone: nothing is left to stop, and undoing goes on. It ends CANCELLED."""
    if not Run.everywhere.filter(pk=run.id, cancel_requested_at__isnull=True).exists():
        return
    _note(run, user_id, reason)
    _audit(run, user_id, reason, channel)


def _note(run: Locked, user_id: uuid.UUID, reason: str) -> None:
    Run.everywhere.filter(pk=run.id).update(
        cancel_requested_at=Now(), cancel_requested_by_id=user_id, cancel_reason=reason[:500]
    )
    run.event("run.cancel_requested", actor=f"user:{user_id.hex}", payload={"reason": reason[:500]})


def _request(run: Locked, user_id: uuid.UUID, reason: str, channel: str) -> None:
    run.move("request_cancel")
    run.waiting_on = ""
    run.takeover = None
    _note(run, user_id, reason)
    waiting = Step.everywhere.select_for_update(of=("self",), no_key=True).filter(
        run_id=run.id, status__in=["PENDING", "WAITING_APPROVAL", "WAITING_EXTERNAL"]
    )
    for step in waiting.order_by("pk"):
        stop(run, step, code="cancelled", actor=f"user:{user_id.hex}")
    kinds = [PendingAction.Kind.APPROVE, PendingAction.Kind.ANSWER, PendingAction.Kind.TAKE_OVER]
    withdraw_open(run_id=run.id, kinds=kinds, reason=sentences.CANCELLED())
    grants.void_unused(run_id=run.id, reason=sentences.CANCELLED())
    running = list(Step.everywhere.filter(run_id=run.id, status="RUNNING").values_list("pk", flat=True))
    never_sent = Intent.everywhere.select_for_update(of=("self",)).filter(
        run_id=run.id, status__in=[Intent.Status.PROPOSED, Intent.Status.AUTHORISED, Intent.Status.REJECTED]
    )
    for intent in never_sent.exclude(step_id__in=running).order_by("pk"):
        intents.void(intent_id=intent.pk)
    _audit(run, user_id, reason, channel)


def _audit(run: Locked, user_id: uuid.UUID, reason: str, channel: str) -> None:
    audit.append(
        tenant_id=run.tenant_id,
        act="run.cancel_requested",
        subject=("run", run.id.hex),
        run_id=run.id,
        actor=user_id,
        channel=channel,
        payload={"reason": reason[:500]},
    )
