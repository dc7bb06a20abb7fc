"""Quarantine: results that came too late. They are kept and audited, and can never change a step or a run (L6)."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from accounts import audit
from accounts.canonical import digest
from accounts.ids import new_id
from accounts.statements import statement
from runs import tallies
from runs.engine import artifacts
from runs.engine.late import CONFLICT
from runs.engine.types import Outcome
from runs.engine.workspace import cursor, document
from runs.models import Artifact

#: These say nothing of the world: there is no result to keep.
NO_RESULT = ("drained", "waiting", "lost")


def quarantine(*, worker_id: uuid.UUID, outcomes: Sequence[Outcome]) -> int:
    """Keeps refused outcomes with their files as candidates and in the audit chain, in one transaction; how many were
    new. Each is kept once for its fence, whatever comes again. Owns its transaction."""
    late = {
        (outcome.claimed.step_id, outcome.claimed.fence): outcome
        for outcome in sorted(outcomes, key=lambda outcome: outcome.claimed.tenant_id)
        if outcome.ending not in NO_RESULT
    }
    if not late:
        return 0
    with transaction.atomic(durable=True):
        kept = cursor()
        rows = document([_row(worker_id, outcome) for outcome in late.values()])
        kept.execute(statement("runs", "quarantine"), {"late": rows})
        new = {(step_id, fence): (status, ended) for step_id, fence, status, ended in kept.fetchall()}
        for key, outcome in late.items():
            if key in new:
                _record(worker_id, outcome, *new[key])
        if new:
            tallies.add("fence_rejections", "outcome", by=len(new))
            tallies.add("results_after_loss", by=len(new))
        if ended := sum(1 for _, over in new.values() if over):
            tallies.add("terminal_conflicts", "outcome", by=ended)
    return len(new)


def _record(worker_id: uuid.UUID, outcome: Outcome, status: str, ended: bool) -> None:
    """Its files, and its place in the audit chain. ``status``: of its run; ``ended``: that is a final one. Joins."""
    claimed = outcome.claimed
    artifacts.rows(
        tenant_id=claimed.tenant_id,
        run_id=claimed.run_id,
        step_id=claimed.step_id,
        fence=claimed.fence,
        files=outcome.artifacts,
        quarantined=True,
    )
    if outcome.artifacts:
        # A tombstone takes no files: their content goes the way of the rest.
        late = Artifact.everywhere.filter(run_id=claimed.run_id, step_id=claimed.step_id, fence=claimed.fence)
        late.filter(run__erased_at__isnull=False).update(removed_at=Now(), name="", metadata={})
    payload = {
        "worker": worker_id.hex,
        "run_epoch": claimed.run_epoch,
        "epoch": claimed.epoch,
        "fence": claimed.fence,
        "attempt": claimed.attempt,
        "ending": outcome.ending,
        "output_digest": _digest(outcome),
        "artifacts": [file.sha256 for file in outcome.artifacts],
        "status": status,
    }
    for act in ("step.quarantined", CONFLICT) if ended else ("step.quarantined",):
        audit.append(
            tenant_id=claimed.tenant_id,
            act=act,
            subject=("step", claimed.step_id.hex),
            run_id=claimed.run_id,
            actor_kind="engine",
            payload=payload,
        )


def _row(worker_id: uuid.UUID, outcome: Outcome) -> dict[str, Any]:
    claimed = outcome.claimed
    return {
        "id": new_id(),
        "step": claimed.step_id,
        "run_epoch": claimed.run_epoch,
        "epoch": claimed.epoch,
        "fence": claimed.fence,
        "attempt": claimed.attempt,
        "worker": worker_id,
        "ending": outcome.ending,
        "output": outcome.output,
        "output_digest": _digest(outcome),
        "error_code": outcome.error_code[:60],
        "error_text": outcome.error_text[:1000],
    }


def _digest(outcome: Outcome) -> str:
    return digest(outcome.output) if outcome.output is not None else ""
