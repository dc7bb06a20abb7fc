"""Our own side of the table: the full product path on a node as it is deployed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from django.db.models import F

from bench import cycle, load, parked
from bench.peers import meter
from bench.peers.table import Row
from bench.servers import Servers
from runs.engine.submit import submit
from runs.models import Step
from tools.models import WorkerProcess

POLL = 0.01
Found = TypeVar("Found")


def ours(
    servers: Servers,
    *,
    runs: int,
    steps: int,
    alone: int,
    waiting: int,
    resumed: int,
    seconds: float,
    patience: float,
) -> Row:
    """Everything that the peers are asked for."""
    who = load.cast()
    servers.start_node()
    load.wait(load.count(who, runs=20, steps=steps), alive=servers.alive)
    many = cycle.throughput(servers, who, runs=runs, steps=steps)
    gaps = cycle.latency(who, steps=alone)
    wait = parked.park(servers, who, runs=waiting, signalled=resumed)
    return Row(
        title="Countersign",
        version="this checkout",
        work=meter.Work(many.steps, many.seconds, many.cpu.total),
        gaps=gaps.samples,
        recovery=recovery(servers, who, seconds=seconds, patience=patience),
        parked=wait.kilobytes,
        resumed=wait.times,
        durable=True,
        note="history with hash chain, agent, checkpoints and outbox included; a second node stands by",
    )


def recovery(servers: Servers, who: load.Cast, *, seconds: float, patience: float) -> float | None:
    """Seconds from a ``kill -9`` of a whole node in the middle of the sixth step to the start of the next try on the other.
    None: not within ``patience`` seconds."""
    servers.start_node()
    if _until(_two_nodes, 60) is None:
        raise load.NotDone("the second node did not start")
    run, _ = submit(
        tenant_id=who.tenant.pk,
        submitter_id=who.submitter.pk,
        agent="drill-counter",
        goal="Count slowly",
        input={"steps": 20, "tool": "drill.sleep", "arguments": {"seconds": seconds}},
        submit_key=uuid.uuid4().hex,
    )
    steps = Step.everywhere.filter(run=run)
    pid = _until(lambda: steps.filter(key="count/6").values_list("owner__pid", flat=True).first(), 60)
    if pid is None:
        raise load.NotDone("the run never reached its sixth step")
    time.sleep(seconds / 2)
    meter.kill(pid)
    killed = meter.now()
    again = steps.filter(attempt__gt=1, started_at__isnull=False).values_list("started_at", flat=True)
    started = _until(again.first, patience)
    return started.timestamp() - killed if started else None


def _two_nodes() -> bool:
    """Both have been alive for two heartbeats: each knows the other."""
    alive = WorkerProcess.objects.filter(kind="main", stopped_at=None)
    return alive.filter(last_seen_at__gt=F("started_at") + timedelta(seconds=2)).count() >= 2


def _until(look: Callable[[], Found | None], seconds: float) -> Found | None:
    """The first answer that is something; None after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(POLL)
    return None
