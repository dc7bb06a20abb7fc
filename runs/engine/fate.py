"""Fate: what really became of outcomes whose COMMIT answered with an error (B44). Reads only."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from accounts.statements import statement
from runs.engine.held import held
from runs.engine.types import Claimed, Outcome
from runs.engine.workspace import cursor


def not_recorded(*, worker_id: uuid.UUID, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of ``outcomes`` that are not in the database yet. The others were committed although the answer was lost."""
    with transaction.atomic(durable=True):
        found = cursor()
        found.execute(statement("runs", "fate_of_steps"), {"steps": [o.claimed.step_id for o in outcomes]})
        rows = {row[0]: row for row in found.fetchall()}
    return [
        outcome
        for outcome in outcomes
        if not _recorded(outcome, rows.get(outcome.claimed.step_id), worker_id)
    ]


def _recorded(
    outcome: Outcome, row: tuple[uuid.UUID, int, str, uuid.UUID | None] | None, worker_id: uuid.UUID
) -> bool:
    if row is None:
        return True
    _, fence, status, owner = row
    if fence != outcome.claimed.fence:
        # Somebody claimed it since. It belongs to quarantine, unless it was only given back.
        return outcome.ending not in ("succeeded", "unknown")
    if status == "RUNNING":
        return owner != worker_id and outcome.ending not in ("succeeded", "unknown")
    # Under our fence only our own commit ends a step; only the sweep of expired leases gives it back besides us.
    return status != "PENDING" or outcome.ending != "succeeded"


def strays(*, worker_id: uuid.UUID, known: set[tuple[uuid.UUID, int]], limit: int = 500) -> list[Claimed]:
    """Steps that this worker owns in the database but that are not among the ``known``: the answer to a claim was lost.
    Enough of each to give it back."""
    with transaction.atomic(durable=True):
        found = cursor()
        found.execute(statement("runs", "steps_of_owner"), {"worker": worker_id, "limit": limit})
        rows = found.fetchall()
    return [held(row) for row in rows if (row[0], row[11]) not in known]
