"""What waits for a person in a run, and what was decided."""

import uuid

from django.db.models import Prefetch

from approvals.models import Decision, PendingAction


def of_run(run_id: uuid.UUID) -> list[PendingAction]:
    """All questions of a run, oldest first, each with its decisions and people; two queries."""
    decisions = Decision.everywhere.select_related("user").order_by("at")
    rows = PendingAction.objects.filter(run_id=run_id).select_related(
        "assignee", "claimed_by", "submitter", "intent"
    )
    return list(
        rows.defer("shown", "preview", "evidence")
        .prefetch_related(Prefetch("decisions", queryset=decisions))
        .order_by("opened_at", "id")
    )
