"""Reclaim: steps whose lease ran out, or whose owner is proven gone, may be claimed again (O6, L12).

The look and the write are apart, and the write compares owner, fence and expiry again: two sweeps over one dead lease
count it once (B13, B29).
"""

import logging
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction

from accounts.statements import run, statement
from runs import tallies
from runs.engine.commit import LOST_CONNECTION, Mode, commit
from runs.engine.held import held
from runs.engine.types import Outcome
from runs.engine.workspace import cursor, document
from runs.states import RUN_PLANNABLE
from tools import workers

log = logging.getLogger(__name__)

BATCH = 200


def reclaim() -> int:
    """Gives back (or, after an effect was sent, makes UNKNOWN) up to 200 steps with an expired lease; how many it found."""
    found = cursor()
    found.execute(statement("runs", "expired_steps"), {"limit": BATCH, "plannable": list(RUN_PLANNABLE)})
    return give_back(found.fetchall(), "expired")


def release(*, worker_id: uuid.UUID) -> int:
    """The same for everything that a worker held which is known to be gone, before its leases end. Does nothing for one
    of which that is not proven."""
    done = 0
    while workers.is_gone(worker_id=worker_id) is not None:
        found = cursor()
        found.execute(statement("runs", "steps_of_owner"), {"worker": worker_id, "limit": BATCH})
        rows = found.fetchall()
        if not rows:
            break
        done += give_back(rows, "gone")
    return done


def release_gone() -> int:
    """The same for every owner that is proven gone: whoever recorded the proof may have died before it could release."""
    found = cursor()
    found.execute(statement("runs", "owners_gone"), {"limit": BATCH})
    return sum(release(worker_id=row[0]) for row in found.fetchall())


def give_back(rows: Iterable[tuple[Any, ...]], mode: Mode) -> int:
    """Steps as ``expired_steps`` gives them go back; how many were there. One that fails stops no other."""
    by_owner: dict[uuid.UUID, list[Outcome]] = {}
    for row in rows:
        by_owner.setdefault(row[15], []).append(
            Outcome(held(row), "lost", error_code="worker_lost", error_text="Its worker is gone.")
        )
    done = 0
    for owner, outcomes in by_owner.items():
        log.warning("%d steps of worker %s are taken back (%s)", len(outcomes), owner, mode)
        try:
            commit(worker_id=owner, outcomes=outcomes, room={}, sent=0.0, mode=mode)
            done += len(outcomes)
        except LOST_CONNECTION:
            raise
        except Exception:
            log.exception("%d steps could not be taken back together: one by one", len(outcomes))
            done += sum(_alone(owner, outcome, mode) for outcome in outcomes)
        _remember(owner, outcomes, mode)
    return done


def _alone(owner: uuid.UUID, outcome: Outcome, mode: Mode) -> bool:
    try:
        commit(worker_id=owner, outcomes=[outcome], room={}, sent=0.0, mode=mode)
    except LOST_CONNECTION:
        raise
    except Exception:
        log.exception("step %s could not be taken back; it is tried again", outcome.claimed.step_id)
        return False
    return True


def _remember(owner: uuid.UUID, outcomes: Sequence[Outcome], mode: Mode) -> None:
    """For the metrics: what was lost, and when its worker was last heard of. Not needed for anything else."""
    lost = document([{"step": o.claimed.step_id, "fence": o.claimed.fence} for o in outcomes])
    with transaction.atomic(durable=True):
        rows = run("runs", "lost_leases", {"lost": lost, "worker": owner, "why": mode})
        if rows:
            tallies.add("leases_lost", mode, by=len(rows))
