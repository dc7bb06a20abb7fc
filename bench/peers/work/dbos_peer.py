"""DBOS Transact: durable execution in the application's own process."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import speak
from dbos import DBOS, SetWorkflowID

GOT: dict[str, float] = {}


@DBOS.step()
async def nothing(number: int) -> dict[str, Any]:
    return {"k": number, "text": speak.TEXT}


@DBOS.step()
async def slow(number: int, seconds: float) -> int:
    speak.started(number)
    await asyncio.sleep(seconds)
    return number


@DBOS.workflow()
async def count(steps: int) -> list[float]:
    ends = []
    for number in range(steps):
        await nothing(number)
        ends.append(time.time())
    return ends


@DBOS.workflow()
async def slowly(steps: int, seconds: float) -> None:
    for number in range(steps):
        await slow(number, seconds)


@DBOS.workflow()
async def wait(number: int) -> Any:
    word = await DBOS.recv_async("go", timeout_seconds=3600)
    GOT[str(number)] = time.time()
    return word


def launch(name: str, pool: int) -> None:
    DBOS(
        config={
            "name": "bench",
            "system_database_url": speak.database(),
            "log_level": "ERROR",
            "executor_id": name,
            "application_version": "1",
            "sys_db_pool_size": pool,
        }
    )
    DBOS.launch()


async def obey(order: dict[str, Any]) -> dict[str, Any]:
    match order["do"]:
        case "many":
            handles = await asyncio.gather(
                *[DBOS.start_workflow_async(count, order["steps"]) for _ in range(order["runs"])]
            )
            for handle in handles:
                await handle.get_result()
            return {"done": order["runs"]}
        case "alone":
            handle = await DBOS.start_workflow_async(count, order["steps"])
            return {"ends": await handle.get_result()}
        case "slow":
            await DBOS.start_workflow_async(slowly, order["steps"], order["seconds"])
            return {"started": True}
        case "park":
            for number in range(order["runs"]):
                with SetWorkflowID(f"wait-{number}"):
                    await DBOS.start_workflow_async(wait, number)
            await asyncio.sleep(2)
            return {"parked": order["runs"]}
        case "resume":
            return {"gaps": await resume(order["numbers"])}
    raise ValueError(f"no such order: {order['do']}")


async def resume(numbers: list[int]) -> list[float]:
    """Milliseconds from the message to the next line of the workflow, one by one."""
    gaps = []
    for number in numbers:
        sent = time.time()
        await DBOS.send_async(f"wait-{number}", "go", "go")
        while str(number) not in GOT:
            await asyncio.sleep(0.0005)
        gaps.append((GOT[str(number)] - sent) * 1000)
    return gaps


async def main(name: str) -> None:
    launch(name, pool=20)
    speak.say(ready=True)
    while True:
        speak.say(**await obey(await speak.hear_soon()))


if __name__ == "__main__":
    if sys.argv[1] == "setup":
        launch("setup", pool=2)
        DBOS.destroy()
    else:
        asyncio.run(main(sys.argv[2]))
