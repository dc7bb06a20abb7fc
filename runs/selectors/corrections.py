"""What people said about findings: the newest word on each counts."""

import uuid

from runs.models import FindingCorrection


def of_run(run_id: uuid.UUID) -> dict[tuple[str, str], FindingCorrection]:
    """``{(document, finding): newest correction}`` of a run."""
    rows = FindingCorrection.objects.filter(run_id=run_id).select_related("by")
    return {(row.document, row.finding): row for row in rows.order_by("at", "id")}
