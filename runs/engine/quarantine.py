"""Quarantine: results that came too late. They are kept and audited, and can never change a step or a run (L6)."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from accounts import audit
from accounts.canonical import digest
from runs.engine import artifacts
from runs.engine.types import Outcome


def quarantine(*, worker_id: uuid.UUID, outcomes: Sequence[Outcome]) -> None:
    """Keeps refused outcomes as candidate artifacts and in the audit chain, in one transaction."""
    with transaction.atomic(durable=True):
        for outcome in sorted(outcomes, key=lambda o: o.claimed.tenant_id):
            claimed = outcome.claimed
            if outcome.ending in ("drained", "waiting", "lost"):
                continue
            artifacts.rows(
                tenant_id=claimed.tenant_id,
                run_id=claimed.run_id,
                step_id=claimed.step_id,
                fence=claimed.fence,
                files=outcome.artifacts,
                quarantined=True,
            )
            audit.append(
                tenant_id=claimed.tenant_id,
                act="step.quarantined",
                subject=("step", claimed.step_id.hex),
                run_id=claimed.run_id,
                actor_kind="engine",
                payload={
                    "worker": worker_id.hex,
                    "fence": claimed.fence,
                    "attempt": claimed.attempt,
                    "ending": outcome.ending,
                    "output_digest": digest(outcome.output) if outcome.output is not None else "",
                    "artifacts": [file.sha256 for file in outcome.artifacts],
                },
            )
