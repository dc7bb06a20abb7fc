"""procrastinate: a task queue in PostgreSQL. Each job defers the next; the state of jobs is kept, results are not."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import procrastinate
import speak

AT_ONCE, POOL = 50, 20
ENDS: list[float] = []

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=speak.database(), min_size=2, max_size=POOL)
)


@app.task(name="step", queue="bench")
async def step(k: int, n: int, text: str) -> None:
    ENDS.append(time.time())
    if k + 1 < n:
        await step.defer_async(k=k + 1, n=n, text=speak.TEXT)


@app.task(name="slow", queue="bench")
async def slow(k: int, n: int, seconds: float) -> None:
    speak.started(k)
    await asyncio.sleep(seconds)
    if k + 1 < n:
        await slow.defer_async(k=k + 1, n=n, seconds=seconds)


async def obey(order: dict[str, Any]) -> dict[str, Any]:
    steps = order.get("steps", 0)
    match order["do"]:
        case "alone":
            ENDS.clear()
            await step.defer_async(k=0, n=steps, text=speak.TEXT)
            while len(ENDS) < steps:
                await asyncio.sleep(0.01)
            return {"ends": list(ENDS)}
        case "slow":
            await slow.defer_async(k=0, n=steps, seconds=order["seconds"])
            return {"started": True}
    raise ValueError(f"no such order: {order['do']}")


async def main() -> None:
    async with app.open_async():
        working = asyncio.create_task(app.run_worker_async(queues=["bench"], concurrency=AT_ONCE))
        speak.say(ready=True)
        while not working.done():
            speak.say(**await obey(await speak.hear_soon()))


async def setup() -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


async def hand_in(runs: int, steps: int) -> None:
    async with app.open_async():
        await step.batch_defer_async(*[{"k": 0, "n": steps, "text": speak.TEXT}] * runs)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["setup"]:
            asyncio.run(setup())
        case ["hand in", runs, steps]:
            asyncio.run(hand_in(int(runs), int(steps)))
        case _:
            asyncio.run(main())
