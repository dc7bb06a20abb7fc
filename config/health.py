"""Whether work moves, not whether a process breathes; for load balancers and people without a session."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers and its schema is current, else 503; the body says which part fails."""
    try:
        body = {"database": "ok", "migrations": _migrations()}
    except DatabaseError:
        body = {"database": "unreachable", "migrations": "unknown"}
    healthy = body["database"] == "ok" and body["migrations"] == "current"
    return JsonResponse({"status": "ok" if healthy else "failing", **body}, status=200 if healthy else 503)


def _migrations() -> str:
    executor: Any = MigrationExecutor(connection)
    return "behind" if executor.migration_plan(executor.loader.graph.leaf_nodes()) else "current"
