"""``/metrics``: what every room tells of itself, in the text format of Prometheus.

Values come from the database, so any web process gives the same answer. Who may ask: with ``METRICS_TOKEN`` set, whoever
sends it as a bearer token; without one, only a client on this very machine that no proxy speaks for.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from accounts.metrics import Family, gauge
from approvals import metrics as approvals
from outbox import metrics as outbox
from runs.selectors import metrics as runs
from tools import metrics as tools

log = logging.getLogger(__name__)

#: Milliseconds that one statement may take before that room is left out.
LIMIT = 2000
READ = gauge(
    "metrics_room_read", "Whether a room could be read this time (1) or its values are missing (0).", "room"
)
SECONDS = gauge("metrics_seconds", "How long it took to read everything.")
FAMILIES: tuple[Family, ...] = (READ, SECONDS)
ROOMS: dict[str, Callable[[], Iterable[Metric]]] = {
    "runs": runs.read,
    "approvals": approvals.read,
    "tools": tools.read,
    "outbox": outbox.read,
}


def families() -> list[Family]:
    """Everything that is told, in the order of the page."""
    return [*runs.FAMILIES, *approvals.FAMILIES, *tools.FAMILIES, *outbox.FAMILIES, *FAMILIES]


class _Rooms(Collector):
    """Reads each room in a transaction of its own: one that cannot be read leaves the others their values."""

    def collect(self) -> Iterator[Metric]:
        began, read = perf_counter(), {}
        for room, look in ROOMS.items():
            try:
                with transaction.atomic(durable=True):
                    with connection.cursor() as cursor:
                        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(LIMIT)])
                    told = list(look())
            except DatabaseError:
                log.exception("the metrics of %s cannot be read", room)
                read[room] = 0.0
                continue
            read[room] = 1.0
            yield from told
        yield READ.values(((room,), value) for room, value in read.items())
        yield SECONDS.value(perf_counter() - began)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """200 with the text, 401 for a wrong token, 403 for somebody who may not ask at all."""
    refused = _refused(request)
    if refused is not None:
        return refused
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Rooms())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _refused(request: HttpRequest) -> HttpResponse | None:
    token = settings.METRICS_TOKEN
    if token:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode()):
            return None
        answer = HttpResponse(
            "Send METRICS_TOKEN as a bearer token.\n", status=401, content_type="text/plain"
        )
        answer["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return answer
    if _on_this_machine(request):
        return None
    text = "Metrics are told on this machine only. Set METRICS_TOKEN to read them from elsewhere.\n"
    return HttpResponse(text, status=403, content_type="text/plain")


def _on_this_machine(request: HttpRequest) -> bool:
    """A proxy on this machine connects from here too, but says for whom: then it is not from here."""
    if any(name in request.headers for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP")):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
