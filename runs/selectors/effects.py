"""Effects of a run that were sent, and what people reported of them."""

import uuid

from django.db.models import F, Prefetch, QuerySet

from tools.models import DuplicateReport, Intent

#: On the page of a task; the newest.
MOST = 20


def sent(run_id: uuid.UUID) -> "QuerySet[Intent]":
    """Newest first, with tool and reports."""
    reports = DuplicateReport.objects.select_related("reported_by", "answered_by").order_by("reported_at")
    rows = Intent.objects.filter(run_id=run_id, dispatch_id__isnull=False).select_related("tool")
    found: QuerySet[Intent] = (
        rows.defer("answer", "evidence")
        .prefetch_related(Prefetch("duplicates", reports))
        .order_by("-created_at")
    )
    return found


def reports() -> "QuerySet[DuplicateReport]":
    """Every report of the tenant, open ones first, then the newest."""
    found: QuerySet[DuplicateReport] = DuplicateReport.objects.select_related(
        "reported_by", "answered_by", "intent", "intent__tool"
    ).order_by(F("answered_at").desc(nulls_first=True), "-reported_at")
    return found
