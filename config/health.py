"""Whether work moves, not whether a process breathes; for load balancers and people without a session."""

from __future__ import annotations

import functools
from typing import Any

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import origin
from runs.selectors.health import movement


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers and its schema is current, else 503; the body says which part fails.

    ``work`` is ``moving``, ``stalled`` (ready steps that nobody takes) or ``held`` (the database may have been set back:
    ``manage.py restored``): that is not this process's trouble, so it still answers 200. ``broker`` is ``heard``,
    ``silent`` (no node was rung through it for a while: work goes on by the poll, half a second slower) or ``unknown`` (no
    node lives). Ages are in seconds by the database's clock.
    """
    try:
        body: dict[str, Any] = {"database": "ok", "migrations": _migrations()}
        body |= _work() if body["migrations"] == "current" else {}
    except DatabaseError:
        body = {"database": "unreachable", "migrations": "unknown"}
    healthy = body["database"] == "ok" and body["migrations"] == "current"
    return JsonResponse({"status": "ok" if healthy else "failing", **body}, status=200 if healthy else 503)


def _work() -> dict[str, Any]:
    now, doubt = movement(), origin.look().doubt
    ages = {
        "oldest_ready_seconds": now.oldest_ready,
        "last_claim_seconds": now.last_claim,
        "last_bell_seconds": now.last_bell,
    }
    rounded = {name: None if age is None else round(age, 1) for name, age in ages.items()}
    work = "held" if doubt else "stalled" if now.stalled else "moving"
    return {"work": work, "broker": now.broker, **({"held_because": doubt} if doubt else {}), **rounded}


@functools.cache
def _known() -> frozenset[tuple[str, str]]:
    """The migrations of this code, read from the disk once."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


def _migrations() -> str:
    applied = MigrationRecorder(connection).applied_migrations()
    return "current" if _known() <= applied.keys() else "behind"
