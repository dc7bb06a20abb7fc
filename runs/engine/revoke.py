"""Revoke: nobody works for a run any more. The run gets a new epoch; each step that is under way a new epoch, a new fence
and no owner, so that whatever its worker still reports is of an older epoch (L12). Lock order: run, step, action, intent.
"""

from django.db.models.functions import Now

from accounts.arrows import move
from outbox import bell
from runs.engine.ending import lock_step, next_fence
from runs.engine.unknown import lose
from runs.engine.workspace import Locked
from runs.models import Step
from tools import workers
from tools.models import Contract, Intent
from tools.selectors import by_id

KNOWN_GONE = Contract.TakeoverRule.KNOWN_GONE


def revoke(run: Locked, *, why: str, ends: bool = False) -> None:
    """Takes every running step from its worker. One whose effect may have been sent becomes UNKNOWN and a person is asked;
    the others may be claimed again, except those that another worker may take only when the first one is known to be gone
    (they stay with it, and what it brings counts no more); when the run ``ends``, nobody takes them. Joins a transaction
    that holds the run; the caller writes it."""
    run.epoch += 1
    running = Step.everywhere.filter(run_id=run.id, status=Step.Status.RUNNING).order_by("pk")
    for step_id in list(running.values_list("pk", flat=True)):
        step = lock_step(step_id)
        if step is not None and step.status == Step.Status.RUNNING:
            _take(run, step, why, ends)
    bell.ring_stop(run.id)


def _take(run: Locked, step: Step, why: str, ends: bool) -> None:
    newer = {"epoch": step.epoch + 1, "fence": next_fence()}
    intent = Intent.everywhere.select_for_update(of=("self",)).filter(pk=step.intent_id).first()
    if intent is not None and intent.status in (Intent.Status.DISPATCHED, Intent.Status.UNKNOWN):
        lose(run, step, intent, why=why)
        Step.everywhere.filter(pk=step.pk).update(**newer)
        return
    if not ends and _stays(step):
        return
    freed = {"waiting_on": "", "owner": None, "lease_until": None, "not_before": Now()}
    move(step, "give_back", epoch=step.epoch, fence=step.fence, changes={**newer, **freed})
    run.moving = True
    payload = {"key": step.key, "attempt": step.attempt, "why": why}
    run.event("step.revoked", step_id=step.pk, epoch=step.epoch, fence=step.fence, payload=payload)


def _stays(step: Step) -> bool:
    """Whether nobody else may work on it until its worker is known to be gone."""
    alone = step.contract_id is not None and by_id(step.contract_id).takeover_rule == KNOWN_GONE
    return alone and step.owner_id is not None and workers.is_gone(worker_id=step.owner_id) is None
