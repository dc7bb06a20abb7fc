"""Stranded: a run is pinned to the code of its agent, and no living node has it. It says so and waits, instead of looking
busy for ever (B30). Nothing has to bring it back: its steps stay claimable, and the first node with that code goes on.

Lock order: run.
"""

import uuid

from django.conf import settings
from django.db import transaction

from accounts.statements import run as ask
from runs import sentences
from runs.engine.each import each
from runs.engine.workspace import locked_one

#: Seconds that a step may be claimable before somebody asks why nobody claims it.
GRACE = 10.0


def tell_stranded(*, limit: int = 200, grace: float = GRACE) -> int:
    """Says of stranded runs what they wait for; how many. One that fails does not stop the others."""
    found = _stranded(grace=grace, limit=limit)
    return each(found, lambda run_id: _tell(run_id, grace), failing="run %s could not say what it waits for")


def _stranded(*, grace: float, limit: int, run_id: uuid.UUID | None = None) -> list[uuid.UUID]:
    silent = 3 * settings.COUNTERSIGN.lease_seconds
    found = ask("runs", "stranded_runs", {"grace": grace, "silent": silent, "limit": limit, "run": run_id})
    return [row[0] for row in found]


def _tell(run_id: uuid.UUID, grace: float) -> bool:
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        if run is None or not _stranded(grace=grace, limit=1, run_id=run_id):
            return False
        run.waiting_on = sentences.NO_CODE(agent=run.agent, version=run.agent_version)[:200]
        if run.status == "PENDING":
            run.move("go_on")
        run.move("wait_outside")
        run.event("run.stranded", payload={"agent": run.agent, "version": run.agent_version})
        # Not derived from the steps: they are claimable, only nobody can claim them.
        workspace.write()
    return True
