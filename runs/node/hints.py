"""Hints for open pages: "there are events up to n". Best effort, at most one message per run and one per tenant in a tenth
of a second; the page fetches the rest itself. A thread of its own: a slow broker must not hold up the engine.

Group ``run.<hex>`` gets ``{"type": "run.progress", "run", "seq"}``; group ``tenant.<hex>`` gets
``{"type": "tenant.progress", "runs": [[run, seq]…]}``.
"""

import asyncio
import itertools
import logging
import threading
import uuid
from collections.abc import Mapping
from typing import Any

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)

EVERY = 0.1
#: Runs told of at a time; under a storm the others come a little later, so that telling costs a bounded share.
AT_ONCE = 25
#: Runs kept while the channel layer does not answer.
MOST = 20_000
#: After a failure the layer is left alone for so long.
PAUSE = 2.0


class Hints:
    """What is still to be told: run → (tenant, newest sequence)."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.there = threading.Event()
        self.newest: dict[uuid.UUID, tuple[uuid.UUID, int]] = {}
        self.stopped = False

    def add(self, events: Mapping[uuid.UUID, int], tenants: Mapping[uuid.UUID, uuid.UUID]) -> None:
        """From the engine threads, after a commit."""
        with self.lock:
            for run, sequence in events.items():
                tenant = tenants.get(run)
                if tenant is not None and len(self.newest) < MOST:
                    self.newest[run] = (tenant, sequence)
        self.there.set()

    def stop(self) -> None:
        self.stopped = True
        self.there.set()

    def run(self) -> None:
        """The thread."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        layer = get_channel_layer()
        loop = asyncio.get_running_loop()
        while layer is not None and not self.stopped:
            await loop.run_in_executor(None, self.there.wait)
            try:
                await self._tell(layer, self._some())
                await asyncio.sleep(EVERY)
            except Exception as error:  # noqa: BLE001 - whatever the layer raises, pages catch up by themselves
                log.warning("open pages were not told of news: %s", error)
                await asyncio.sleep(PAUSE)

    def _some(self) -> dict[uuid.UUID, tuple[uuid.UUID, int]]:
        """The runs that have waited longest."""
        with self.lock:
            chosen = {run: self.newest.pop(run) for run in list(itertools.islice(self.newest, AT_ONCE))}
            if not self.newest and not self.stopped:
                self.there.clear()
        return chosen

    @staticmethod
    async def _tell(layer: Any, newest: Mapping[uuid.UUID, tuple[uuid.UUID, int]]) -> None:
        tenants: dict[uuid.UUID, list[tuple[str, int]]] = {}
        for run, (tenant, sequence) in newest.items():
            tenants.setdefault(tenant, []).append((run.hex, sequence))
            await layer.group_send(
                f"run.{run.hex}", {"type": "run.progress", "run": run.hex, "seq": sequence}
            )
        for tenant, runs in tenants.items():
            await layer.group_send(f"tenant.{tenant.hex}", {"type": "tenant.progress", "runs": runs})
