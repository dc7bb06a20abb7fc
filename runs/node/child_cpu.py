"""The child that runs one step at a time: computing tools and files of users. Memory and processor time are limited here,
wall time by main, which kills the process.

The main thread executes and plans; a second one reads the wire, so that a tool can see that it should stop.
"""

import functools
import os
import queue
import resource
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from runs.engine.types import Go, Stop
from runs.node.child_io import drive
from runs.node.execute import Interrupted, execution
from runs.node.last_words import LastWords
from runs.node.planning import plan
from runs.node.tool_context import StepContext
from runs.node.wire import READ, pack, unpack
from runs.node.work import Report, Work, reply_up

_MB = 1_000_000
#: Address space beyond what is mapped already: without it even the report could not be made.
_ROOM = 64 * _MB


class Child:
    """Everything that its two threads share."""

    def __init__(self, sock: socket.socket, words: LastWords) -> None:
        self.words = words
        self.sock = sock
        self.inbox: queue.SimpleQueue[tuple[Work, StepContext]] = queue.SimpleQueue()
        self.replies: queue.SimpleQueue[Go | Stop | BaseException] = queue.SimpleQueue()
        self.live: dict[tuple[str, int], StepContext] = {}
        self.counting = False
        self.sending = threading.Lock()

    def read(self) -> None:
        """The second thread."""
        buffer = bytearray()
        try:
            while data := self.sock.recv(READ):
                buffer += data
                for message in unpack(buffer):
                    self._take(message)
        except BaseException:  # noqa: BLE001 - a deaf child is worse than none
            traceback.print_exc(file=sys.__stderr__)
            os._exit(70)
        os._exit(0)

    def _take(self, message: dict[str, Any]) -> None:
        for item in message.get("run", ()):
            work = Work(*item)
            ctx = self.live[work.step, work.fence] = StepContext(work, functools.partial(self._went_on, work))
            self.inbox.put((work, ctx))
        for step, fence, reply in message.get("reply", ()):
            if (step, fence) in self.live:
                self.replies.put(reply_up(reply))
        for step, fence, until in message.get("lease", ()):
            if ctx_of := self.live.get((step, fence)):
                ctx_of.lease_until = until
        for step, fence, why in message.get("stop", ()):
            if ctx_of := self.live.get((step, fence)):
                ctx_of.stop(why)

    def run(self) -> None:
        """The main thread."""
        signal.signal(signal.SIGXCPU, self._too_much)
        self._send({"hello": os.getpid()})
        while True:
            work, ctx = self.inbox.get()
            report = self._execute(work, ctx)
            self.words.keep([report.row()])
            self.words.asking(0)
            report.plan = plan(work, None if work.kind == "plan" else report)
            del self.live[work.step, work.fence]
            bye = report.error_code == "memory_limit"
            self._send({"done": [report.row()], "bye": bye})
            self.words.clear()
            if bye:
                # What the failed step left behind would count against the next one.
                os._exit(0)

    def _execute(self, work: Work, ctx: StepContext) -> Report:
        if work.kind == "plan":
            return Report(work.step, work.fence, "succeeded")
        hard_memory = resource.getrlimit(resource.RLIMIT_AS)[1]
        hard_cpu = resource.getrlimit(resource.RLIMIT_CPU)[1]
        memory = max(int(work.spec.get("memory_mb", 1024)) * _MB, _mapped() + _ROOM)
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + int(work.spec.get("cpu_seconds", 60))
        while not self.replies.empty():
            self.replies.get()
        try:
            resource.setrlimit(resource.RLIMIT_AS, (memory, hard_memory))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard_cpu))
            self.counting = True
            return drive(execution(work, ctx), lambda: self._ask(work))
        finally:
            self.counting = False
            resource.setrlimit(resource.RLIMIT_AS, (hard_memory, hard_memory))
            resource.setrlimit(resource.RLIMIT_CPU, (hard_cpu, hard_cpu))

    def _ask(self, work: Work) -> Go | Stop:
        self._send({"begin": [[work.step, work.fence]]})
        answer = self.replies.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _went_on(self, work: Work) -> None:
        self._send({"progress": [[work.step, work.fence]]})

    def _too_much(self, number: int, frame: FrameType | None) -> None:
        if self.counting:
            self.counting = False
            raise Interrupted("cpu_limit", "It needed more processor time than it may.")

    def _send(self, message: dict[str, Any]) -> None:
        # A tool may report progress from a thread of its own.
        with self.sending:
            self.sock.sendall(pack(message))


def _mapped() -> int:
    """Bytes of address space in use."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        return int(pages) * resource.getpagesize()
    except OSError:
        return 0


def serve(sock: socket.socket, words: LastWords) -> None:
    """Runs until main closes the socket, or a step needed too much memory."""
    child = Child(sock, words)
    threading.Thread(target=child.read, name="wire", daemon=True).start()
    child.run()
