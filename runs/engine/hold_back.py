"""Hold back: a call that may not be made yet, because of the order on its resource or the quota of its tool, waits outside
and says for what. It counts as no try, its approval stands, and no worker is kept busy with it (`runs.engine.let_in` lets
it go on).

Joins the transaction of begin, which holds run, step, action and intent; locks resource fence and quota, in this order.
"""

import uuid
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts.arrows import move
from accounts.ids import public
from runs import sentences
from runs.engine.ending import lock_step
from runs.engine.record import settle_down
from runs.engine.types import Claimed, Stop
from runs.engine.workspace import Locked, locked_one
from runs.models import Step
from tools import fences, quotas, resources
from tools.fences import Older, Taken
from tools.models import Contract, Intent
from tools.selectors import by_id

#: Why a step waits outside, as its error code says it meanwhile.
IN_LINE, QUOTA = "in_line", "quota"
_WAITS = Step.Status.WAITING_EXTERNAL
_QUOTA = Q(status=_WAITS, error_code=QUOTA)
OLDER = Stop("waiting", "fence_older", "A newer claim was on its resource before it.")


def hold_back(
    run: Locked, step: Step, contract: Contract, claimed: Claimed, *, intent: Intent | None
) -> Stop | None:
    """What the step has to wait for; None: nothing, and the call is counted. A call that only reads has no ``intent``."""
    ordered = intent is not None and bool(intent.resource) and resources.ordered(contract)
    if intent is not None and ordered:
        match fences.enter(intent=intent, contract=contract, fence=claimed.fence):
            case Taken(by):
                return _wait(run, step, IN_LINE, in_line(by, contract=contract, step=step), "step.in_line")
            case Older():
                _again(run, step)
                return OLDER
    full = quotas.spend(contract=contract, waiting=lambda: _before(run, step))
    if full is not None:
        return _wait(run, step, QUOTA, full.text, "step.over_quota", until=full.until)
    if intent is not None and ordered:
        fences.keep(intent=intent, fence=claimed.fence)
    return None


def in_line(by: Intent, *, contract: Contract, step: Step) -> str:
    """What a step waits for whose resource is taken: what it is called, what it is about, and of which task."""
    other = Step.everywhere.filter(pk=by.step_id).first()
    words = sentences.BEHIND_UNKNOWN if by.status == Intent.Status.UNKNOWN else sentences.IN_LINE
    what = (other.title or other.tool) if other else contract.tool.title
    return words(resource=by.resource[:60], what=what[:50], task=public("run", by.run_id))


def waiting_for_quota(*, limit: int) -> list[tuple[uuid.UUID, str, uuid.UUID]]:
    """Tools of which calls wait for a quota: tenant, name, and the contract of one of the calls."""
    rows = (
        Step.everywhere.filter(_QUOTA)
        .order_by("tenant_id", "tool", "not_before")
        .distinct("tenant_id", "tool")
    )
    return list(rows.values_list("tenant_id", "tool", "contract_id")[:limit])


def say_again(run_id: uuid.UUID, step_id: uuid.UUID) -> bool:
    """The time that was promised has come, and there is no room after all: a new time. Owns its transaction."""
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        if run is None or step is None or (step.status, step.error_code) != (_WAITS, QUOTA):
            return False
        if step.contract_id is None:
            return False
        full = quotas.when(contract=by_id(step.contract_id), waiting=_before(run, step, step.not_before))
        if full is None:
            return False
        said = {"waiting_on": full.text[:200], "not_before": full.until}
        Step.everywhere.filter(pk=step_id, status=_WAITS).update(**said)
        payload = {"key": step.key, "why": full.text[:500], "code": QUOTA}
        run.event("step.over_quota", step_id=step.pk, epoch=step.epoch, payload=payload)
        settle_down(workspace)
    return True


def _before(run: Locked, step: Step, promised: datetime | None = None) -> int:
    """How many other calls of the tool wait for its quota already, and go first."""
    rows = Step.everywhere.filter(_QUOTA, tenant_id=run.tenant_id, tool=step.tool).exclude(pk=step.pk)
    return int((rows.filter(not_before__lt=promised) if promised else rows).count())


def _wait(
    run: Locked, step: Step, code: str, text: str, event: str, *, until: datetime | None = None
) -> Stop:
    changes = {
        "owner": None,
        "lease_until": None,
        "waiting_on": text[:200],
        "error_code": code,
        "error_text": "",
        "not_before": until or Now(),
    }
    move(step, "wait_outside", epoch=step.epoch, fence=step.fence, changes=changes)
    payload = {"key": step.key, "why": text[:500], "code": code}
    run.event(event, step_id=step.pk, epoch=step.epoch, payload=payload)
    return Stop("waiting", code, text)


def _again(run: Locked, step: Step) -> None:
    """It goes back, and its next claim has a newer token."""
    changes = {"owner": None, "lease_until": None, "not_before": Now()}
    move(step, "give_back", epoch=step.epoch, fence=step.fence, changes=changes)
    run.moving = True
    payload = {"key": step.key, "why": OLDER.code}
    run.event("step.waiting", step_id=step.pk, epoch=step.epoch, payload=payload)
