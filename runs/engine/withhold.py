"""Withhold: a step that must never run twice at the same time stays with a worker that fell silent until that worker is
known to be gone (takeover rule ``known_gone``, L16). It says so to people; an alert asks an administrator to look after the
worker.

Nothing turns round meanwhile: reclaim and the sweep of orphans pass such steps over, and the run waits. It goes on when the
worker's lock is released, when it ends cleanly, when somebody attests that it is gone (`tools.attest`), or when the worker
itself comes back and says that it has stopped. Lock order: run, step.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from accounts.failpoints import fp
from accounts.statements import run as select
from runs import sentences
from runs.engine.alert import alert
from runs.engine.commit_guard import withheld
from runs.engine.each import each
from runs.engine.ending import lock_step
from runs.engine.reclaim import give_back
from runs.engine.record import settle_down
from runs.engine.types import Outcome
from runs.engine.workspace import locked_one
from runs.models import Step
from tools.models import Contract
from tools.selectors import by_id

FAILING = "step %s stays with a silent worker and could not say so; it is tried again"


def tell(*, limit: int = 200) -> int:
    """Says of steps that stay with a silent worker what they wait for; how many. One that fails does not stop the others."""
    return each(withheld(limit=limit, fresh=True), _tell, failing=FAILING)


def stopped(*, worker_id: uuid.UUID, outcomes: Sequence[Outcome]) -> int:
    """What a worker reported of steps that it holds no longer: it works on them no more, so those that waited for this are
    free; how many. Owns its transactions."""
    over = {(one.claimed.step_id, one.claimed.fence) for one in outcomes if _alone(one.claimed.contract_id)}
    if not over:
        return 0
    rows = select("runs", "steps_of_owner", {"worker": worker_id, "limit": 500})
    return give_back([row for row in rows if (row[0], row[11]) in over], "stopped")


def _alone(contract_id: uuid.UUID | None) -> bool:
    return contract_id is not None and by_id(contract_id).takeover_rule == Contract.TakeoverRule.KNOWN_GONE


def _tell(row: tuple[Any, ...]) -> bool:
    step_id, run_id, tenant_id, fence, node, host = row
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        if run is None or step is None or not withheld(limit=1, only=step_id, fresh=True):
            return False
        text = sentences.WITHHELD(node=node, host=host)
        Step.everywhere.filter(pk=step_id, fence=fence).update(waiting_on=text[:200])
        run.event(
            "step.withheld",
            step_id=step_id,
            epoch=step.epoch,
            fence=fence,
            payload={"key": step.key, "why": text, "worker": step.owner_id.hex if step.owner_id else ""},
        )
        settle_down(workspace)
        alert(
            tenant_id=tenant_id,
            run_id=run_id,
            code="worker_silent",
            text=text,
            key=f"withheld/{step_id.hex}/{fence}",
        )
        fp("withhold.before_commit")
    return True
