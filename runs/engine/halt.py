"""Halt: an administrator stops one run, and lets it go on. Nothing new of it starts and nothing is sent meanwhile; what it
waits for is kept. Cancelling it stays possible. Lock order: run."""

import uuid

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.again import again
from accounts.failpoints import fp
from runs.engine.unblock import unblock
from runs.engine.workspace import Locked, locked_one
from runs.errors import AlreadyEnded, NotFound
from runs.states import RUN_TERMINAL
from tools import switches


@again
def halt(*, run_id: uuid.UUID, user_id: uuid.UUID, reason: str, channel: str = "page") -> bool:
    """Stops a run; False when it is stopped already. A begin that is under way is waited for: after this nothing is let go
    that was not let go before. Owns its transaction. Raises :class:`NotFound`, :class:`AlreadyEnded` and, without a reason,
    :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        run = _live(run)
        done = switches.stop_run(
            tenant_id=run.tenant_id, run_id=run.id, by=user_id, reason=reason, channel=channel
        )
        if done:
            run.event(
                "run.stopped", actor=f"user:{user_id.hex}", payload={"reason": " ".join(reason.split())[:500]}
            )
            workspace.write()
        fp("halt.before_commit")
    return done


@again
def let_go_on(*, run_id: uuid.UUID, user_id: uuid.UUID, channel: str = "page") -> bool:
    """Lifts the stop of a run; False when it was not stopped. What it held up goes on at once. Owns its transactions."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        run = _live(run)
        done = switches.lift_run(tenant_id=run.tenant_id, run_id=run.id, by=user_id, channel=channel)
        if done:
            run.event("run.lifted", actor=f"user:{user_id.hex}", payload={})
            workspace.write()
        fp("lift.before_commit")
    if done:
        unblock(run_id=run_id)
    return done


def _live(run: Locked | None) -> Locked:
    if run is None:
        raise NotFound(_("There is no such task."))
    if run.status in RUN_TERMINAL:
        raise AlreadyEnded(_("The task has already ended. Nothing was changed."), run.status)
    return run
