"""Hints for open pages over the channel layer: "there is news", never the news itself.

The socket asks the tables what there is, so a hint for a page of tasks is as good for an inbox.

Group ``run.<hex>`` gets ``{"type": "run.progress", "run", "seq"}`` (``seq`` 0: unknown, ask); group ``tenant.<hex>``
gets ``{"type": "tenant.progress", "runs": [[run, seq], …]}``; group ``inbox.<hex>`` gets ``{"type": "inbox.progress"}``.
"""

import asyncio
import contextlib
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from channels.layers import get_channel_layer

from outbox.routes import Consumer, Delivery, Unavailable

SECONDS = 3.0
_thread = threading.local()


def run_hints(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Tell pages about runs: one hint per run and tenant and pass."""
    newest: dict[tuple[uuid.UUID | None, str], int] = {}
    for delivery in deliveries:
        run = str(delivery.payload.get("run_id", ""))
        if run:
            where = (delivery.tenant_id, run)
            newest[where] = max(newest.get(where, 0), int(delivery.payload.get("seq", 0)))
    messages: list[tuple[str, dict[str, Any]]] = []
    tenants: dict[uuid.UUID, list[tuple[str, int]]] = {}
    for (tenant, run), seq in newest.items():
        messages.append((f"run.{run}", {"type": "run.progress", "run": run, "seq": seq}))
        if tenant:
            tenants.setdefault(tenant, []).append((run, seq))
    for tenant, runs in tenants.items():
        messages.append((f"tenant.{tenant.hex}", {"type": "tenant.progress", "runs": runs}))
    return _send(messages, deliveries)


RUNS = Consumer("hints:runs", run_hints)


def inboxes(tenants: Iterable[uuid.UUID]) -> None:
    """Pages of these tenants look again at what waits and what there is to read. A lost hint costs latency: they look by
    themselves now and then."""
    rings = [(f"inbox.{tenant.hex}", {"type": "inbox.progress"}) for tenant in tenants]
    if rings:
        _send(rings, ())


def inbox_hints(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Tell open inboxes that something moved there."""
    tenants = sorted({delivery.tenant_id for delivery in deliveries if delivery.tenant_id})
    return _send([(f"inbox.{tenant.hex}", {"type": "inbox.progress"}) for tenant in tenants], deliveries)


INBOXES = Consumer("hints:inboxes", inbox_hints)


def close() -> None:
    """Close what this thread holds open; a thread that told hints calls it at its end."""
    runner: asyncio.Runner | None = getattr(_thread, "runner", None)
    if runner is not None:
        _thread.runner = None
        with runner, contextlib.suppress(Exception):
            runner.run(_leave())


async def _leave() -> None:
    layer = get_channel_layer()
    if layer is not None:
        await layer.flush()


def _send(
    messages: Sequence[tuple[str, dict[str, Any]]], deliveries: Sequence[Delivery]
) -> Mapping[uuid.UUID, Exception]:
    try:
        _runner().run(asyncio.wait_for(_send_all(messages), SECONDS))
    except Exception as error:  # noqa: BLE001 - whatever the layer raises, its messages wait
        closed = Unavailable(f"The channel layer did not take a hint: {error!r}")
        return {delivery.event_id: closed for delivery in deliveries}
    return {}


async def _send_all(messages: Sequence[tuple[str, dict[str, Any]]]) -> None:
    layer = get_channel_layer()
    if layer is not None:
        for group, message in messages:
            await layer.group_send(group, message)


def _runner() -> asyncio.Runner:
    """One event loop for the life of a thread, so that the layer keeps its connection."""
    found: asyncio.Runner | None = getattr(_thread, "runner", None)
    if found is None:
        found = _thread.runner = asyncio.Runner()
    return found
