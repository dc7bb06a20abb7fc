"""Doubt: after a restore, an effect that is not confirmed may have happened in the time that is lost. Its step is UNKNOWN,
and a person says what became of it (section 5). Joins a transaction that holds the run; lock order: run, step, action,
intent.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from accounts.arrows import move
from approvals.grants import void
from approvals.models import PendingAction
from approvals.open import open_settle
from approvals.withdraw import withdraw_asked
from runs import sentences
from runs.engine.ending import next_fence
from runs.engine.unknown import ask
from runs.engine.workspace import Locked, NewStep
from runs.models import Step
from tools import intents, workers
from tools.models import Contract, Intent, WorkerProcess

WHY = "restored"
#: Intents that say nothing final about the world.
UNCONFIRMED = (
    Intent.Status.PROPOSED,
    Intent.Status.AUTHORISED,
    Intent.Status.DISPATCHED,
    Intent.Status.REJECTED,
    Intent.Status.UNKNOWN,
)


def doubt(run: Locked, step: Step, intent: Intent, *, sender_id: uuid.UUID) -> None:
    """A step of a run that was live when its database was restored, locked with its intent. What was asked about it is
    withdrawn, a grant that was not used is void, and what became of it is asked."""
    text = sentences.RESTORED()
    withdraw_asked(intent_id=intent.pk, reason=text)
    grant = PendingAction.everywhere.filter(intent=intent, status=PendingAction.Status.APPROVED).first()
    if grant is not None:
        void(action_id=grant.pk, reason=text)
    unsure = intents.doubt(intent_id=intent.pk, sender_id=sender_id, evidence={"kind": "engine", "why": WHY})
    newer = {"epoch": step.epoch + 1, "fence": next_fence()}
    if step.status == Step.Status.UNKNOWN:
        Step.everywhere.filter(pk=step.pk).update(**newer)
    else:
        changes = {
            **newer,
            "owner": None,
            "lease_until": None,
            "held": False,
            "error_code": "unknown_outcome",
        }
        move(step, "doubt", epoch=step.epoch, changes=changes)
    ask(run, step, unsure, why=WHY)


def may_have_happened(run: Locked, contract: Contract) -> bool:
    """Whether a new effect of this run may have happened already, unknown to this database: the run was live at a restore.
    Not where a repeat under the same key is the same effect for ever."""
    return run.restored > 0 and not (contract.native_idempotency and contract.key_memory_seconds == 0)


def start_unknown(run: Locked, step: NewStep, intent: Intent, *, why: str, evidence: Sequence[Any]) -> None:
    """A new step of such a run begins with the question whether it has happened. ``why`` and ``evidence`` are the agent's,
    kept for whoever has to approve it if it has not."""
    name = workers.before_restore(generation=run.restored)
    sender_id = WorkerProcess.objects.values_list("pk", flat=True).get(node=name)
    unsure = intents.doubt(intent_id=intent.pk, sender_id=sender_id, evidence={"kind": "engine", "why": WHY})
    sentence = sentences.BEFORE_RESTORE(what=(step.title or step.tool)[:400])
    step.status, step.waiting_on, step.held = "UNKNOWN", sentence[:200], False
    action = open_settle(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=step.id,
        epoch=1,
        intent=unsure,
        submitter_id=run.submitter_id,
        sentence=sentence[:500],
        facts={"why": WHY, "rationale": why, "evidence": list(evidence), "attempt": 0},
    )
    payload = {"key": step.key, "why": WHY, "action": action.pk.hex}
    run.event("step.unknown", step_id=step.id, epoch=1, payload=payload)
