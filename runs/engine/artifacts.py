"""Rows for files that tools stored. Joins the caller's transaction."""

import uuid
from collections.abc import Sequence

from runs.engine.types import Outcome, Stored
from runs.engine.workspace import Locked
from runs.models import Artifact


def store(run: Locked, outcome: Outcome) -> list[str]:
    """The files of an accepted outcome; returns their digests for the history."""
    rows(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=outcome.claimed.step_id,
        fence=outcome.claimed.fence,
        files=outcome.artifacts,
        quarantined=False,
    )
    return [file.sha256 for file in outcome.artifacts]


def rows(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID,
    fence: int,
    files: Sequence[Stored],
    quarantined: bool,
) -> None:
    """Inserts the rows; the bytes are in the storage already, under their digest."""
    Artifact.everywhere.bulk_create(
        Artifact(
            tenant_id=tenant_id,
            run_id=run_id,
            step_id=step_id,
            fence=fence,
            kind=file.kind,
            name=file.name[:255],
            sha256=file.sha256,
            size=file.size,
            media_type=file.media_type,
            uri=f"sha256:{file.sha256}",
            metadata=dict(file.metadata),
            quarantined=quarantined,
        )
        for file in files
    )
