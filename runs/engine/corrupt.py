"""Corrupt: an artifact is lost, or does not have its checksum any more (S15).

Found by its checksum on read, never later. If the step that made it may simply run again (its tool is read-only), it does,
as a step of its own (``remake/<its key>/<n>``, with the next epoch and a new fence), and whoever needs the content waits for
it. Else a person is asked. A run that has ended is not touched: the finding is noted, audited and told.

What read the content before it was damaged read it whole, so nothing that has ended is done again: its results stand.
"""

import uuid

from django.db import transaction
from django.db.models.functions import Now

from runs.engine import damage, remake
from runs.engine.damage import SeenBy
from runs.engine.record import settle_down
from runs.engine.record_alone import record_alone
from runs.engine.types import Committed, Outcome
from runs.engine.workspace import Locked, locked_one
from runs.models import Artifact, Damage, Step
from runs.states import RUN_TERMINAL


def found(*, artifact_id: uuid.UUID, how: str, seen_by: SeenBy) -> Damage:
    """An artifact was read and is ``missing`` or ``corrupt``. Finding it again while that is open changes nothing. Owns its
    transaction."""
    artifact: Artifact = Artifact.everywhere.get(pk=artifact_id)
    with transaction.atomic(durable=True):
        if artifact.run_id is None:
            return damage.note(artifact, how, seen_by)
        workspace, run = locked_one(artifact.run_id)
        if run is None:
            raise Artifact.DoesNotExist
        if run.status in RUN_TERMINAL:
            return damage.note(artifact, how, seen_by)
        treated = damage.treat(run, artifact, how, seen_by)
        settle_down(workspace)
    return treated


def whole_again(*, artifact_id: uuid.UUID) -> None:
    """An artifact was read whole: a finding that was only noted is over. One guarded statement."""
    Damage.everywhere.filter(artifact_id=artifact_id, done=Damage.Done.NOTED, closed_at__isnull=True).update(
        closed_at=Now(), outcome=Damage.Outcome.WHOLE
    )


def stopped(*, worker_id: uuid.UUID, outcome: Outcome, mode: str, done: Committed) -> None:
    """A step could not read what it needs: it waits for the content, or for a person. That is no failure of its own. Owns
    its transaction."""

    def act(run: Locked, step: Step) -> None:
        damage.wait(run, step, outcome)

    record_alone(worker_id=worker_id, outcome=outcome, mode=mode, done=done, act=act)


def remade(
    *, worker_id: uuid.UUID, outcome: Outcome, status: str, delay: float, mode: str, done: Committed
) -> None:
    """Records an outcome of a remake; ``status`` is what becomes of the step. Owns its transaction."""

    def act(run: Locked, step: Step) -> None:
        if status == "PENDING":
            remake.again(run, step, outcome, delay)
        else:
            remake.end(run, step, outcome, status)

    record_alone(worker_id=worker_id, outcome=outcome, mode=mode, done=done, act=act)
