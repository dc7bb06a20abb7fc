"""Restored: an administrator takes the restore of a backup in (section 5). What happened in the world after the backup is
in no table: fences jump over all that were given out since, live runs gain an epoch, and every effect of theirs that is
not confirmed is UNKNOWN until a person has said what became of it.

Safe to kill and to run again: runs that were taken in are marked, and nothing is claimed before all are.
"""

import logging
import uuid
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import audit, origin
from accounts.arrows import move
from accounts.failpoints import fp
from accounts.models import DatabaseOrigin, Membership, Role, Tenant
from outbox import bell
from runs.engine.doubt import UNCONFIRMED, doubt
from runs.engine.ending import lock_step, next_fence
from runs.engine.record import settle_down
from runs.engine.workspace import Locked, locked_one
from runs.errors import EngineError
from runs.models import Run, Step
from runs.states import RUN_TERMINAL, STEP_LIVE
from tools import workers
from tools.models import Intent

log = logging.getLogger(__name__)

#: More fences than were given out in any time that a restore can lose; 9 thousand million restores fit.
JUMP = 1_000_000_000
TAKING_IN = "A restore is being taken in."


class NotAdministrator(EngineError):
    """Only an administrator can say that all processes from before are stopped."""

    code = "not_administrator"


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done: the new generation, how many runs gained an epoch, and how many effects are UNKNOWN now."""

    generation: int
    runs: int
    effects: int


def restored(*, user_id: uuid.UUID, reason: str, nothing_lost: bool = False) -> Restored:
    """Takes the database in as it is now. By calling it the administrator attests that every process that worked on the
    database before is stopped or cut off. ``nothing_lost``: it was moved or promoted without losing a commit; fences jump
    all the same, but nothing is put in doubt. Owns its transactions. Raises :class:`NotAdministrator`."""
    roles = Membership.everywhere.filter(
        user_id=user_id, disabled_at=None, roles__contains=[Role.ADMINISTRATOR]
    )
    if not roles.filter(user__is_active=True, tenant__active=True).exists():
        raise NotAdministrator(_("Only an administrator can take a restore in. Nothing was changed."))
    generation = _open(user_id, reason)
    fp("restored.opened")
    runs = effects = 0
    if not nothing_lost:
        live = Run.everywhere.exclude(status__in=RUN_TERMINAL).filter(restored__lt=generation).order_by("pk")
        with transaction.atomic(durable=True):
            sender_id = workers.attest_all(generation=generation, by=user_id)
        for run_id in list(live.values_list("pk", flat=True)):
            effects += _take_in(run_id, generation, sender_id)
            runs += 1
            fp("restored.run")
    done = Restored(generation, runs, effects)
    _close(done, user_id, reason, nothing_lost)
    return done


def _open(user_id: uuid.UUID, reason: str) -> int:
    """Stops all claiming, and jumps; gives the generation that begins."""
    origin.look()
    with transaction.atomic(durable=True):
        row = DatabaseOrigin.objects.select_for_update().get(pk=1)
        generation: int = row.generation
        if row.doubt != TAKING_IN:
            generation += 1
        changes = {
            "generation": generation,
            "doubt": TAKING_IN,
            "reason": reason[:500],
            "accepted_by_id": user_id,
        }
        DatabaseOrigin.objects.filter(pk=1).update(**changes)
        with connection.cursor() as jump:
            jump.execute("SELECT setval('fence', nextval('fence') + %s)", [JUMP])
    return generation


def _take_in(run_id: uuid.UUID, generation: int, sender_id: uuid.UUID) -> int:
    """One run that was live; how many of its effects are UNKNOWN now."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        if run is None or run.status in RUN_TERMINAL or run.restored >= generation:
            return 0
        run.epoch += 1
        run.restored = generation
        run.event("run.restored", payload={"generation": generation})
        live = Step.everywhere.filter(run_id=run.id, status__in=STEP_LIVE).order_by("pk")
        effects = sum(_step(run, step_id, sender_id) for step_id in list(live.values_list("pk", flat=True)))
        settle_down(workspace)
        bell.ring_stop(run.id)
    return effects


def _step(run: Locked, step_id: uuid.UUID, sender_id: uuid.UUID) -> bool:
    """One step of such a run; True when its effect is in doubt."""
    step = lock_step(step_id)
    if step is None or step.status not in STEP_LIVE:
        return False
    intent = Intent.everywhere.select_for_update(of=("self",)).filter(pk=step.intent_id).first()
    if intent is not None and intent.status in UNCONFIRMED:
        doubt(run, step, intent, sender_id=sender_id)
        return True
    newer = {"epoch": F("epoch") + 1, "fence": next_fence()}
    if step.status == Step.Status.RUNNING:
        freed = {**newer, "owner": None, "lease_until": None, "not_before": Now()}
        move(step, "give_back", epoch=step.epoch, fence=step.fence, changes=freed)
        run.moving = True
    else:
        Step.everywhere.filter(pk=step.pk).update(**newer)
        run.moving = run.moving or (step.status == Step.Status.PENDING and not step.held)
    return False


def _close(done: Restored, user_id: uuid.UUID, reason: str, nothing_lost: bool) -> None:
    """The database is the accepted one; every tenant's audit chain says so."""
    seen = origin.look().seen
    payload = {
        "generation": done.generation,
        "reason": reason[:500],
        "nothing_lost": nothing_lost,
        "runs": done.runs,
        "effects": done.effects,
    }
    with transaction.atomic(durable=True):
        DatabaseOrigin.objects.filter(pk=1).update(
            system_identifier=seen.system, timeline=seen.timeline, doubt="", accepted_at=Now()
        )
        for tenant_id in Tenant.objects.order_by("pk").values_list("pk", flat=True):
            audit.append(
                tenant_id=tenant_id,
                act="database.restored",
                subject=("database", seen.system),
                actor=user_id,
                channel="console",
                payload=payload,
            )
    log.warning("the restore was taken in: %s", payload)
