"""Files: what people gave and what steps made."""

import uuid
from collections.abc import Sequence

from runs.models import Artifact

MOST = 500


def of_run(run_id: uuid.UUID) -> list[Artifact]:
    """All files of a run, what was given first, then in the order of making."""
    rows = Artifact.objects.filter(run_id=run_id, removed_at__isnull=True).select_related(
        "step", "created_by"
    )
    found = list(rows.defer("step__input", "step__output").order_by("created_at", "id")[:MOST])
    return sorted(found, key=lambda file: file.kind not in (Artifact.Kind.UPLOAD, Artifact.Kind.INPUT))


def get(artifact_id: uuid.UUID, *, run_id: uuid.UUID | None = None) -> Artifact:
    """One file of the tenant. Raises ``Artifact.DoesNotExist`` for a foreign id, or one of another run."""
    rows = Artifact.objects.select_related("step", "run").filter(removed_at__isnull=True)
    if run_id is not None:
        rows = rows.filter(run_id=run_id)
    found: Artifact = rows.get(pk=artifact_id)
    return found


def waiting(ids: Sequence[uuid.UUID], *, user_id: uuid.UUID) -> list[Artifact]:
    """Uploads of this person that belong to no task yet, in the order asked for."""
    rows = {
        file.pk: file
        for file in Artifact.objects.filter(
            pk__in=ids,
            created_by_id=user_id,
            kind=Artifact.Kind.UPLOAD,
            run__isnull=True,
            removed_at__isnull=True,
        )
    }
    return [rows[one] for one in dict.fromkeys(ids) if one in rows]


def by_checksum(sha256: str, *, run_id: uuid.UUID) -> Artifact | None:
    """A file of a run by its content, the newest of equal ones."""
    rows = Artifact.objects.filter(run_id=run_id, sha256=sha256, removed_at__isnull=True)
    return rows.order_by("-created_at", "-id").first()
