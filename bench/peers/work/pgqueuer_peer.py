"""PgQueuer: a queue in PostgreSQL. Each job puts the next one into the queue; results are not kept."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import asyncpg
import speak
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.queries import Queries

BATCH, POOL = 50, 20
ENDS: list[float] = []


def job(**facts: Any) -> bytes:
    return json.dumps({**facts, "text": speak.TEXT}).encode()


async def main() -> None:
    pool = await asyncpg.create_pool(speak.database(), min_size=POOL, max_size=POOL)
    driver = AsyncpgPoolDriver(pool)
    worker, queue = PgQueuer(driver), Queries(driver)

    @worker.entrypoint("step")
    async def step(given: Any) -> None:
        facts = json.loads(given.payload)
        ENDS.append(time.time())
        if facts["k"] + 1 < facts["n"]:
            await queue.enqueue("step", job(k=facts["k"] + 1, n=facts["n"]))

    @worker.entrypoint("slow")
    async def slow(given: Any) -> None:
        facts = json.loads(given.payload)
        speak.started(facts["k"])
        await asyncio.sleep(facts["seconds"])
        if facts["k"] + 1 < facts["n"]:
            await queue.enqueue("slow", job(k=facts["k"] + 1, n=facts["n"], seconds=facts["seconds"]))

    working = asyncio.create_task(worker.run(batch_size=BATCH, max_concurrent_tasks=None))
    speak.say(ready=True)
    while not working.done():
        speak.say(**await obey(queue, await speak.hear_soon()))


async def obey(queue: Queries, order: dict[str, Any]) -> dict[str, Any]:
    steps = order.get("steps", 0)
    match order["do"]:
        case "alone":
            ENDS.clear()
            await queue.enqueue("step", job(k=0, n=steps))
            while len(ENDS) < steps:
                await asyncio.sleep(0.01)
            return {"ends": list(ENDS)}
        case "slow":
            await queue.enqueue("slow", job(k=0, n=steps, seconds=order["seconds"]))
            return {"started": True}
    raise ValueError(f"no such order: {order['do']}")


async def setup() -> None:
    connection = await asyncpg.connect(speak.database())
    await Queries(AsyncpgDriver(connection)).install()
    await connection.close()


async def hand_in(runs: int, steps: int) -> None:
    connection = await asyncpg.connect(speak.database())
    await Queries(AsyncpgDriver(connection)).enqueue(["step"] * runs, [job(k=0, n=steps)] * runs, [0] * runs)
    await connection.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["setup"]:
            uvloop.run(setup())
        case ["hand in", runs, steps]:
            uvloop.run(hand_in(int(runs), int(steps)))
        case _:
            uvloop.run(main())
