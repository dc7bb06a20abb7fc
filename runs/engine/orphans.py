"""Orphans: what nobody holds any more is found and looked after, with an alert (O6, B14).

Two sweeps, both safe to repeat, to kill and to run twice at once: each row is one transaction under its run's lock, in
which the finding is asked again; a row that fails is logged and stops no other.
"""

import uuid
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from accounts.failpoints import fp
from accounts.statements import run as select
from accounts.statements import statement
from approvals.models import PendingAction
from runs import sentences
from runs.engine import query, undone
from runs.engine.alert import alert
from runs.engine.each import each
from runs.engine.ending import lock_step
from runs.engine.reclaim import give_back
from runs.engine.record import settle_down
from runs.engine.release import release_held
from runs.engine.take_over import take_over
from runs.engine.unknown import follow, stop
from runs.engine.workspace import Locked, Workspace, cursor, live_steps, locked_one
from runs.models import Run, Step
from runs.states import RUN_PLANNABLE
from tools.models import Intent

BATCH = 200
FAILING = "orphan %s could not be looked after; it is tried again"
WORDS = {
    "expired": "The lease of a step had ended long ago and nobody took it back.",
    "too_long": "The lease of a step was set beyond the longest that is allowed; it was cut.",
    "no_owner": "A step was held by a worker that is not on record.",
    "overdue": "A step was held beyond its own time limit.",
}


def sweep() -> int:
    """Both sweeps; how many rows were looked after."""
    return sweep_leases() + sweep_runs()


def sweep_leases() -> int:
    """Leases that are long expired, too long, without an owner on record, or kept beyond the limit of their step."""
    rows = select("runs", "strange_leases", {**_times(), "limit": BATCH, "plannable": list(RUN_PLANNABLE)})
    return each(rows, _lease, failing=FAILING)


def sweep_runs() -> int:
    """Runs with no holder, no timer and no waiter."""
    rows = select("runs", "orphan_runs", {**_grace(), "only": None, "limit": BATCH})
    return each((row[0] for row in rows), _adopt, failing=FAILING)


def _grace() -> dict[str, float]:
    return {"grace": settings.COUNTERSIGN.orphan_grace_seconds}


def _times() -> dict[str, float]:
    lease = settings.COUNTERSIGN.lease_seconds
    return {**_grace(), "longest": max(settings.COUNTERSIGN.longest_lease_seconds, lease)}


def _lease(row: tuple[Any, ...]) -> bool:
    """One lease: cut, told, and taken back when it has ended. A healthy owner of one that was only too long renews it."""
    step_id, run_id, tenant_id, fence, why = row[0], row[1], row[2], row[11], row[-1]
    left = settings.COUNTERSIGN.lease_seconds if why == "too_long" else 0.0
    with transaction.atomic(durable=True):
        _workspace, run = locked_one(run_id)
        if run is None or lock_step(step_id) is None:
            return False
        cut = cursor()
        cut.execute(statement("runs", "cut_lease"), {"step": step_id, "fence": fence, "seconds": left})
        if cut.fetchone() is None:
            return False
        key = f"{why}/{step_id.hex}/{fence}"
        told = alert(tenant_id=tenant_id, run_id=run_id, code=f"lease_{why}", text=WORDS[why], key=key)
    fp("orphan.cut")
    if why == "too_long":
        return told
    return give_back([row[:-1]], "expired") > 0


def _adopt(run_id: uuid.UUID) -> bool:
    """One run: what was forgotten is released, the agent is asked again, or a person takes over."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        if run is None or not select("runs", "orphan_runs", {**_grace(), "only": run_id, "limit": 1}):
            return False
        key = f"orphan/{run.version}"
        why = _look_after(workspace, run)
        run.event("run.orphaned", payload={"why": why})
        settle_down(workspace)
        alert(tenant_id=run.tenant_id, run_id=run_id, code="orphan", text=why, key=key)
        fp("orphan.before_commit")
    return True


def _look_after(workspace: Workspace, run: Locked) -> str:
    """What was done, in words."""
    if _ask_about(run):
        return sentences.NOW_ASKED()
    if run.status == Run.Status.CANCEL_REQUESTED:
        _end_all(run)
        return sentences.WAS_CANCELLED()
    if run.status == Run.Status.COMPENSATING:
        return _ask_about_undo(run)
    run.takeover = None
    release_held(workspace)
    if run.moving:
        return sentences.NOT_RELEASED()
    if not any(row[3] != Step.Kind.PLAN for row in live_steps([run.id])):
        run.plan_again()
        return sentences.ASKED_AGAIN()
    take_over(run, "orphan", sentences.STUCK())
    return sentences.STUCK()


def _ask_about(run: Locked) -> int:
    """Effects whose outcome is open, and of which neither the far side nor a person is asked."""
    rows = Step.everywhere.select_for_update(of=("self",), no_key=True).filter(
        run_id=run.id, status=Step.Status.UNKNOWN
    )
    asked = [step for step in rows.order_by("pk") if not _is_asked(run, step)]
    for step in asked:
        intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=step.intent_id)
        follow(run, step, intent, why="orphan")
    return len(asked)


def _is_asked(run: Locked, step: Step) -> bool:
    unanswered = Q(status=PendingAction.Status.OPEN) | Q(applied_at__isnull=True)
    standing = PendingAction.everywhere.filter(unanswered, run_id=run.id, step_id=step.pk)
    return query.live(run, step) is not None or standing.exists()


def _ask_about_undo(run: Locked) -> str:
    """The next undo is planned when the transaction ends; one that waits for nobody is put before a person."""
    run.takeover = None
    for row in live_steps([run.id]):
        step = lock_step(row[1])
        if step is not None and step.status == Step.Status.WAITING_APPROVAL:
            text = sentences.NOBODY_ASKED()
            Step.everywhere.filter(pk=step.pk).update(error_code="orphan", error_text=text)
            undone.ask(run, step, code="orphan", text=text)
    return sentences.UNDOING_GOES_ON()


def _end_all(run: Locked) -> None:
    left = Step.everywhere.select_for_update(of=("self",), no_key=True).filter(
        run_id=run.id, status__in=["PENDING", "WAITING_APPROVAL", "WAITING_EXTERNAL"]
    )
    for step in left.order_by("pk"):
        stop(run, step, code="cancelled")
