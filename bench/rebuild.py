"""How long the context of a long run takes to be rebuilt: from the tables, as a claim reads it, to the object that the agent
gets in its child."""

from __future__ import annotations

import statistics
import time
import uuid

import orjson
from django.db import connection, transaction

from bench import load
from bench.bench import Bench
from runs.agents import registry
from runs.engine.claim import ask_contexts
from runs.engine.types import Claimed
from runs.leases import Terms
from runs.models import Run, Step
from runs.node import planning
from runs.node.work import Work, item

STEPS, BYTES, TIMES = 143, 2_300_000, 50


def measure(bench: Bench) -> dict[str, float]:
    """Milliseconds for a run with 143 ended steps and 2.3 MB of results."""
    run = _long_run(bench)
    times = []
    for _ in range(TIMES):
        start = time.perf_counter()
        ended = rebuild(run)
        times.append((time.perf_counter() - start) * 1000)
        if ended < STEPS:
            raise load.NotDone(f"The context knows of {ended} steps, not of {STEPS}.")
    print(
        f"Rebuild of a context, {STEPS} steps, {BYTES / 1e6:.1f} MB: p50 {statistics.median(times):.1f} ms, "
        f"max {max(times):.1f} ms"
    )
    return {"rebuild_p50_ms": round(statistics.median(times), 2)}


def rebuild(run_id: uuid.UUID) -> int:
    """Once, as a node and its child do it; gives how many steps the context knows of."""
    with transaction.atomic():
        row = ask_contexts([run_id]).fetchone()
    if row is None:
        raise load.NotDone("The run is not there.")
    _, version, agent, agent_version, text, *_more = row
    ids = (run_id, run_id, run_id)
    claimed = Claimed(
        *(
            *ids,
            "plan/1",
            "plan",
            "",
            "io",
            1,
            0,
            0,
            1,
            1,
            10.0,
            "{}",
            text,
            version,
            agent,
            agent_version,
            {},
        )
    )
    work = Work(*orjson.loads(orjson.dumps(item(claimed, terms=Terms(lease=10, tick=1)))))
    context, _ = planning.rebuild(registry.get(agent, agent_version), work, None)
    return context.ended


def _long_run(bench: Bench) -> uuid.UUID:
    """A run that has done its steps and waits. The tools of a bench say little, so their results are made longer."""
    rounds = [[{"do": "call", "key": f"step/{n}", "tool": "drill.noop"}] for n in range(STEPS)]
    wait = [{"do": "wait", "key": "end", "signal": "end"}]
    run = load.script(bench.who, rounds=[*rounds, wait])
    waiting = Run.everywhere.filter(pk=run, status="WAITING_EXTERNAL")
    load.until(waiting.exists, what="the long run waits", alive=bench.servers.alive)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_step SET output = jsonb_build_object('text', repeat('x', %s)) WHERE run_id = %s AND kind = 'call'",
            [BYTES // STEPS, run],
        )
    done = Step.everywhere.filter(run_id=run, kind="call", status="SUCCEEDED").count()
    if done != STEPS:
        raise load.NotDone(f"{done} steps were done, not {STEPS}.")
    return run
