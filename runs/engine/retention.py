"""Retention: payloads of runs that ended long ago are erased; keys, digests, the chain of history and the audit stay (B47).

One transaction a run: whoever is killed has erased it or not, and two at once skip each other's. ``erased_at`` is the
tombstone: what comes late for the run finds it, and is recorded without its payload. Files are taken away afterwards, when
no row names their content any more, by a pass of its own that may be repeated.

Partitions of old months are never dropped: keys, digests and the chain live in them for good.
"""

import logging
import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import JSONField, Value
from django.db.models.functions import Coalesce, Now

from accounts import audit
from accounts.failpoints import fp
from accounts.statements import statement
from approvals.models import PendingAction
from outbox.notify.forget import forget
from runs import blobs, timeline
from runs.engine.workspace import cursor
from runs.models import Artifact, Checkpoint, Quarantined, Run, Signal, Step
from tools.erase import erase as erase_intents

log = logging.getLogger(__name__)

#: Runs of one call, and contents of files.
RUNS, FILES = 100, 200
#: A file is taken away so long after its last row went: whoever stores the same content now names it before that.
GRACE = timedelta(days=1)
_NOTHING = Value({}, JSONField())


def erase_due(*, limit: int = RUNS, grace: timedelta = GRACE) -> int:
    """Erases up to ``limit`` runs that are due, and files that nobody names any more; how many runs and files. Owns its
    transactions. May be killed at any moment and run twice at once."""
    days = settings.COUNTERSIGN.retention_days
    due = cursor()
    due.execute(statement("runs", "due_for_erasure"), {"days": days, "limit": limit})
    done = sum(erase(run_id=row[0]) for row in due.fetchall())
    cursor().execute(statement("runs", "old_uploads"), {"days": days})
    return done + remove_files(grace=grace)


def erase(*, run_id: uuid.UUID) -> bool:
    """Erases one ended run; False when it is erased already, has not ended, or somebody else is at it. Owns its
    transaction. Lock order: run, steps, intents, audit head."""
    with transaction.atomic(durable=True):
        rows = Run.everywhere.select_for_update(skip_locked=True, of=("self",))
        run = rows.filter(pk=run_id, finished_at__isnull=False, erased_at__isnull=True).first()
        if run is None:
            return False
        failure = {"code": run.failure.get("code", ""), "text": ""} if run.failure else None
        Run.everywhere.filter(pk=run_id).update(
            erased_at=Now(), input={}, result=None, failure=failure, cancel_reason=""
        )
        taken = _erase_rows(run_id)
        taken["events"] = timeline.erase(run_id)
        audit.append(
            tenant_id=run.tenant_id,
            act="run.erased",
            subject=("run", run.pk.hex),
            run_id=run.pk,
            actor_kind="engine",
            payload={"rows": taken, "history": bytes(run.event_hash).hex()},
        )
        fp("retention.before_commit")
    fp("retention.committed")
    return True


def _erase_rows(run_id: uuid.UUID) -> dict[str, int]:
    """Payloads of everything that hangs on the run. Joins."""
    of_run: dict[str, Any] = {"run_id": run_id}
    return {
        "steps": Step.everywhere.filter(**of_run).update(
            input={}, output=None, error_text="", title="", waiting_on=""
        ),
        "checkpoints": Checkpoint.everywhere.filter(**of_run).update(state={}, summary={}),
        "signals": Signal.everywhere.filter(**of_run).update(payload={}),
        "late": Quarantined.everywhere.filter(**of_run).update(output=None, error_text=""),
        "files": Artifact.everywhere.filter(**of_run).update(
            removed_at=Coalesce("removed_at", Now()), name="", metadata=_NOTHING
        ),
        "intents": erase_intents(run_id=run_id),
        "notes": forget([run_id.hex, *(f"action:{pk.hex}" for pk in _actions(run_id))]),
    }


def _actions(run_id: uuid.UUID) -> list[uuid.UUID]:
    return list(PendingAction.everywhere.filter(run_id=run_id).values_list("pk", flat=True))


def remove_files(*, grace: timedelta = GRACE, limit: int = FILES) -> int:
    """Takes stored contents away that no row names any more; how many. Taking away what is gone already is no error, so it
    goes on wherever it was killed."""
    old = Artifact.everywhere.filter(removed_at__lt=Now() - grace).exclude(uri="")
    removed = 0
    for sha256 in old.order_by("removed_at").values_list("sha256", flat=True)[:limit]:
        if not Artifact.everywhere.filter(sha256=sha256, removed_at__isnull=True).exists():
            try:
                removed += blobs.remove_if_older(blobs.uri_of(sha256), grace)
            except blobs.BlobError as error:
                log.warning("%s could not be taken away now: %s", sha256[:12], error)
                continue
        fp("retention.file_removed")
        old.filter(sha256=sha256).update(uri="")
    return removed
