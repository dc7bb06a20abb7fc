"""The children that hold many steps: asynchronous tools on the loop, or blocking tools in threads (`threads` > 0).

The loop carries the wire and the planning in both. All reports at hand leave in one frame.
"""

import asyncio
import inspect
import os
import socket
import sys
import threading
import traceback
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from runs.engine.types import Go, Stop
from runs.node.execute import Ask, Interrupted, Send, execution
from runs.node.last_words import LastWords
from runs.node.planning import plan
from runs.node.tool_context import StepContext
from runs.node.wire import pack, unpack
from runs.node.work import Report, Work, reply_up

#: Reports planned and packed at a time: the loop must go on between.
_AT_A_TIME = 50


class Running:
    """A step in this child."""

    __slots__ = ("ctx", "reply", "task", "work")

    def __init__(self, work: Work, child: "Child") -> None:
        self.work = work
        self.ctx = StepContext(work, lambda: child.went_on(self))
        self.task: asyncio.Task[None] | None = None
        self.reply: Future[Go | Stop] | None = None

    @property
    def id(self) -> tuple[str, int]:
        return self.work.step, self.work.fence


class Child(asyncio.Protocol):
    """The child's end of the wire."""

    transport: asyncio.Transport

    def __init__(self, threads: int, words: LastWords) -> None:
        self.words = words
        self.loop = asyncio.get_running_loop()
        self.pool = ThreadPoolExecutor(threads, "tool") if threads else None
        self.live: dict[tuple[str, int], Running] = {}
        self.ended: deque[tuple[Running, Report]] = deque()
        self.asking: deque[Running] = deque()
        self.going_on: deque[Running] = deque()
        self.armed = threading.Lock()
        self.buffer = bytearray()

    # The wire

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(pack({"hello": os.getpid()}))

    def connection_lost(self, exc: Exception | None) -> None:
        # Main closed the socket or is gone: nobody would take what we still do.
        os._exit(0)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        for message in unpack(self.buffer):
            for item in message.get("run", ()):
                self._start(Running(Work(*item), self))
            for step, fence, reply in message.get("reply", ()):
                self._answer(self.live.get((step, fence)), reply)
            for step, fence, until in message.get("lease", ()):
                if running := self.live.get((step, fence)):
                    running.ctx.lease_until = until
            if stops := message.get("stop"):
                for step, fence, why in stops:
                    self._stop(self.live.get((step, fence)), why)
                self.transport.write(pack({"ack": [stop[:2] for stop in stops]}))

    def _start(self, running: Running) -> None:
        self.live[running.id] = running
        if running.work.kind == "plan":
            self._end(running, Report(running.work.step, running.work.fence, "succeeded"))
        elif self.pool is not None:
            self.pool.submit(self._work_blocking, running)
        else:
            running.task = self.loop.create_task(self._work(running))

    @staticmethod
    def _answer(running: Running | None, reply: dict[str, Any]) -> None:
        if running and running.reply and not running.reply.done():
            running.reply.set_result(reply_up(reply))

    @staticmethod
    def _stop(running: Running | None, why: str) -> None:
        if running is None:
            return
        running.ctx.stop(why)
        # Cancelling is a flag for a tool that changes the world: it knows its safe points.
        if why == "cancel" and running.work.spec.get("effect") != "read_only":
            return
        if running.task is not None:
            running.task.cancel()
        elif running.reply and not running.reply.done():
            running.reply.set_exception(Interrupted())

    # Execution

    async def _work(self, running: Running) -> None:
        steps = execution(running.work, running.ctx)
        try:
            request = next(steps)
            while True:
                try:
                    value = await self._perform(running, request)
                except asyncio.CancelledError:
                    request = steps.throw(Interrupted())
                except BaseException as error:  # noqa: BLE001 - the execution decides what it means
                    request = steps.throw(error)
                else:
                    request = steps.send(value)
        except StopIteration as end:
            self._end(running, end.value)

    async def _perform(self, running: Running, request: Ask | Send) -> Any:
        if isinstance(request, Send):
            value = request.do()
            return await value if inspect.isawaitable(value) else value
        running.reply = Future()
        self.asking.append(running)
        self._arm()
        return await asyncio.wrap_future(running.reply)

    def _work_blocking(self, running: Running) -> None:
        try:
            report = drive(execution(running.work, running.ctx), lambda: self._ask_blocking(running))
        except BaseException:  # noqa: BLE001 - a thread that ended silently would hold its step for ever
            traceback.print_exc(file=sys.__stderr__)
            os._exit(70)
        self._end(running, report)

    def _ask_blocking(self, running: Running) -> Go | Stop:
        reply: Future[Go | Stop] = Future()
        running.reply = reply
        self.asking.append(running)
        self._arm()
        return reply.result()

    # Reports

    def _end(self, running: Running, report: Report) -> None:
        self.ended.append((running, report))
        self._arm()

    def went_on(self, running: Running) -> None:
        """From any thread: a tool reports progress."""
        self.going_on.append(running)
        self._arm()

    def _arm(self) -> None:
        """From any thread: something is to be sent."""
        if self.armed.acquire(blocking=False):
            # Without threads everything is on the loop already, which then need not be woken.
            (self.loop.call_soon if self.pool is None else self.loop.call_soon_threadsafe)(self._flush)

    def _flush(self) -> None:
        # Released first: what comes while we pack arms the next flush.
        self.armed.release()
        message: dict[str, Any] = {}
        done = self._plan([self.ended.popleft() for _ in range(min(len(self.ended), _AT_A_TIME))])
        begin = []
        while self.asking:
            begin.append(list(self.asking.popleft().id))
        progress = []
        while self.going_on:
            progress.append(list(self.going_on.popleft().id))
        if done:
            message["done"] = done
        if progress:
            message["progress"] = progress
        if begin:
            message["begin"] = begin
        if message:
            self.transport.write(pack(message))
        if done:
            self.words.clear()
        if self.ended:
            self._arm()

    def _plan(self, ended: list[tuple[Running, Report]]) -> list[list[Any]]:
        """Asks the agents of steps that ended; gives their reports with the answers."""
        if not ended:
            return []
        self.words.keep([report.row() for _, report in ended])
        for place, (running, report) in enumerate(ended):
            self.live.pop(running.id, None)
            self.words.asking(place)
            report.plan = plan(running.work, None if running.work.kind == "plan" else report)
        return [report.row() for _, report in ended]


def drive(steps: Generator[Ask | Send, Any, Report], ask: Any) -> Report:
    """Runs an execution in this thread. ``ask()`` waits for main's answer."""
    try:
        request = next(steps)
        while True:
            try:
                value = ask() if isinstance(request, Ask) else _call(request)
            except BaseException as error:  # noqa: BLE001 - the execution decides what it means
                request = steps.throw(error)
            else:
                request = steps.send(value)
    except StopIteration as end:
        report: Report = end.value
        return report


def _call(request: Send) -> Any:
    value = request.do()
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def serve(sock: socket.socket, words: LastWords, *, threads: int) -> None:
    """Runs until main closes the socket."""

    def broken(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        loop.default_exception_handler(context)
        if context.get("protocol") or context.get("handle"):
            # Our own code failed: a new child is better than a half-deaf one.
            os._exit(70)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(broken)
        await loop.create_connection(lambda: Child(threads, words), sock=sock)
        await asyncio.Event().wait()

    asyncio.run(run())
