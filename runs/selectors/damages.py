"""What was found damaged."""

import uuid

from runs.models import Damage


def of_run(run_id: uuid.UUID) -> dict[str, Damage]:
    """The newest finding of each content of a run."""
    rows = Damage.objects.filter(run_id=run_id).order_by("found_at", "pk")
    return {damage.sha256: damage for damage in rows}
