"""LangGraph with checkpoints in PostgreSQL, ``durability="sync"``: a step is kept before the next begins. It has no workers:
the application calls the graph, and calls it again after a crash."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any, TypedDict

import speak
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

POOL, AT_ONCE = 20, 100
FIRST = {"k": -1, "text": ""}
ENDS: list[float] = []


class State(TypedDict):
    k: int
    text: str


def thread(name: object) -> dict[str, Any]:
    return {"configurable": {"thread_id": str(name)}, "recursion_limit": 10_000}


def counting(number: int) -> Any:
    async def node(state: State) -> dict[str, Any]:
        ENDS.append(time.time())
        return {"k": number, "text": speak.TEXT}

    return node


def sleeping(number: int, seconds: float) -> Any:
    async def node(state: State) -> dict[str, Any]:
        speak.started(number)
        await asyncio.sleep(seconds)
        return {"k": number}

    return node


def waiting(number: int) -> Any:
    async def node(state: State) -> dict[str, Any]:
        if number == 1:
            interrupt("go?")
            ENDS.append(time.time())
        return {"k": number}

    return node


def chain(nodes: list[Any], saver: Any) -> Any:
    graph = StateGraph(State)
    for number, node in enumerate(nodes):
        graph.add_node(f"n{number}", node)
        graph.add_edge(START if number == 0 else f"n{number - 1}", f"n{number}")
    return graph.compile(checkpointer=saver)


class Peer:
    def __init__(self, name: str, saver: Any) -> None:
        self.name, self.saver, self.turn = name, saver, 0
        self.parked: Any = None
        self.tasks: list[asyncio.Task[Any]] = []

    async def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        self.turn += 1
        match order["do"]:
            case "many":
                graph = chain([counting(n) for n in range(order["steps"])], self.saver)
                await self._all(graph, [f"{self.name}-{self.turn}-{n}" for n in range(order["runs"])])
                return {"done": order["runs"]}
            case "alone":
                ENDS.clear()
                graph = chain([counting(n) for n in range(order["steps"])], self.saver)
                await graph.ainvoke(FIRST, thread(f"alone-{self.turn}"), durability="sync")
                return {"ends": list(ENDS)}
            case "slow" | "slow again":
                graph = chain([sleeping(n, order["seconds"]) for n in range(order["steps"])], self.saver)
                start = FIRST if order["do"] == "slow" else None
                self.tasks.append(
                    asyncio.create_task(graph.ainvoke(start, thread("slow"), durability="sync"))
                )
                return {"started": True}
            case "park":
                self.parked = chain([waiting(n) for n in range(2)], self.saver)
                await self._all(self.parked, [f"wait-{n}" for n in range(order["runs"])])
                return {"parked": order["runs"]}
            case "resume":
                return {"gaps": [await self._resume(n) for n in order["numbers"]]}
        raise ValueError(f"no such order: {order['do']}")

    async def _all(self, graph: Any, names: list[str]) -> None:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(name: str) -> None:
            async with room:
                await graph.ainvoke(FIRST, thread(name), durability="sync")

        await asyncio.gather(*[one(name) for name in names])

    async def _resume(self, number: int) -> float:
        ENDS.clear()
        sent = time.time()
        await self.parked.ainvoke(Command(resume=1), thread(f"wait-{number}"), durability="sync")
        return (ENDS[0] - sent) * 1000


async def main(name: str) -> None:
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(speak.database(), min_size=POOL, max_size=POOL, kwargs=settings) as pool:
        peer = Peer(name, AsyncPostgresSaver(pool))  # type: ignore[arg-type, unused-ignore]
        speak.say(ready=True)
        while True:
            speak.say(**await peer.obey(await speak.hear_soon()))


if __name__ == "__main__":
    if sys.argv[1] == "setup":
        with PostgresSaver.from_conn_string(speak.database()) as made:
            made.setup()
    else:
        asyncio.run(main(sys.argv[2]))
