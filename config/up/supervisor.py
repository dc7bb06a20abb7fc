"""Starts children, keeps them up, stops them. One thread, one loop, no long wait."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType

import psutil

from config.embedded import process
from config.up.child import Child
from config.up.house import kill_tree
from config.up.output import Output
from config.up.programs import Program
from config.up.words import CannotStart

TICK_SECONDS = 0.5
# Together with two pauses of HARD_SECONDS they stay well under the ten seconds that `make up` promises.
APPLICATION_SECONDS = 4.5
SERVER_SECONDS = 2.0
HARD_SECONDS = 0.5


class Stopped(Exception):
    """A person or the system asked for the end while something was awaited."""


class Supervisor:
    """`changed` is called with name → pid whenever a child was started."""

    def __init__(self, output: Output, changed: Callable[[dict[str, int]], None]) -> None:
        self.output = output
        self.children: dict[str, Child] = {}
        self.stopping = False
        self._impatient = False
        self._changed = changed
        self._selector = selectors.DefaultSelector()
        self._passing: list[Child] = []
        self._bell, self._ringer = socket.socketpair()

    def say(self, text: str) -> None:
        self.output.line("up", text)

    def install(self) -> None:
        """Signals from here on: the first asks for the end, a second Ctrl-C does not wait for anybody."""
        process.adopt_orphans()
        for end in (self._bell, self._ringer):
            end.setblocking(False)
        signal.set_wakeup_fd(self._ringer.fileno(), warn_on_full_buffer=False)
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # `nohup make up &` asks us not to care about a hang-up.
            if signal.getsignal(sig) is not signal.SIG_IGN:
                signal.signal(sig, self._asked)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._bell, selectors.EVENT_READ, self._hear)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self._impatient = self.stopping and number == signal.SIGINT
        self.stopping = True

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._bell.recv(4096):
                pass

    # --- children -------------------------------------------------------------------------------------------

    def add(self, program: Program) -> Child:
        """Start a program and keep it running from now on."""
        child = Child(program, lambda text: self.output.line(program.name, text))
        self.children[program.name] = child
        self._start(child)
        return child

    def _start(self, child: Child) -> None:
        child.start()
        assert child.output_fd is not None
        self._selector.register(child.output_fd, selectors.EVENT_READ, lambda: self._drain(child))
        if child.ready_fd is not None:
            self._selector.register(child.ready_fd, selectors.EVENT_READ, lambda: self._hear_ready(child))
        self._changed({c.program.name: c.popen.pid for c in self.children.values() if c.popen})

    def _drain(self, child: Child) -> None:
        fd = child.output_fd
        if fd is not None and not child.read_output():
            self._selector.unregister(fd)
            os.close(fd)
            child.output_fd = None

    def _hear_ready(self, child: Child) -> None:
        if child.ready_fd is not None:
            self._selector.unregister(child.ready_fd)
            child.read_ready()

    def run_once(self, program: Program) -> tuple[int, list[str]]:
        """A program that ends by itself, like the migrations: its exit code and lines. Raises Stopped.

        Lines of JSON are for us, not for the log.
        """
        lines: list[str] = []

        def say(text: str) -> None:
            lines.append(text)
            if not text.startswith(("[{", "{")):
                self.output.line(program.name, text)

        child = Child(program, say)
        self._passing = [child]
        self._start(child)
        assert child.popen is not None
        while child.popen.poll() is None:
            if self.stopping:
                child.popen.kill()
                child.popen.wait()
                raise Stopped
            self.turn()
        self._passing = []
        self._close(child)
        return child.popen.returncode, lines

    # --- the loop -------------------------------------------------------------------------------------------

    def turn(self, seconds: float = TICK_SECONDS) -> None:
        """One round: output, deaths, starts that are due."""
        due = [c.again_at for c in self.children.values() if not c.running]
        wait = max(0.0, min([seconds, *(moment - time.monotonic() for moment in due)]))
        for key, _ in self._selector.select(wait):
            key.data()
        self.output.flush()
        self._bury()
        if not self.stopping:
            self._restart()

    def _bury(self) -> None:
        for child in self.children.values():
            if child.popen is None or child.popen.poll() is None:
                continue
            self._close(child)
            if not self.stopping:
                child.ended()
        # Orphans come to us on Linux alone, where waitid exists.
        if hasattr(os, "waitid"):
            self._reap_orphans()

    def _close(self, child: Child) -> None:
        """Read what a dead child still had to say, then forget its pipes."""
        while child.output_fd is not None and _readable(child.output_fd):
            self._drain(child)
        if child.output_fd is not None:
            self._selector.unregister(child.output_fd)
            os.close(child.output_fd)
            child.output_fd = None
        self._hear_ready(child)

    def _restart(self) -> None:
        now = time.monotonic()
        for child in self.children.values():
            if not child.running and child.again_at <= now:
                self._start(child)

    def _reap_orphans(self) -> None:
        """Grandchildren that came to us end as zombies unless we take note."""
        ours = [*self.children.values(), *self._passing]
        known = {child.popen.pid for child in ours if child.popen}
        with contextlib.suppress(ChildProcessError):
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if ended.si_pid in known:
                    break
                os.waitpid(ended.si_pid, os.WNOHANG)

    def wait_for(self, what: str, is_up: Callable[[], bool], seconds: float, pause: float = 0.05) -> None:
        """Go round until `is_up`; raises Stopped, or CannotStart when it took too long."""
        deadline = time.monotonic() + seconds
        while not is_up():
            if time.monotonic() > deadline:
                raise CannotStart(
                    f"{what} did not come up within {seconds:g} s. "
                    "Everything that was started is stopped again.\n"
                    "The lines above say what it waited for; start again with `make up`."
                )
            # The answer may itself be a log line; asking at each of those would never end.
            again = time.monotonic() + pause
            while (rest := again - time.monotonic()) > 0:
                self.turn(rest)
                if self.stopping:
                    raise Stopped

    # --- the end --------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """End everything: the applications at once and side by side, then the servers they need."""
        self.stopping = True
        servers = ("sink", "valkey", "postgres")
        applications = [child for name, child in self.children.items() if name not in servers]
        self._end(applications, APPLICATION_SECONDS)
        self._end([self.children[name] for name in servers if name in self.children], SERVER_SECONDS)
        for left in psutil.Process().children(recursive=True):
            self.say(f"killing {left.pid}, left behind by a child")
            kill_tree(left)
        self.output.flush()

    def _end(self, children: list[Child], seconds: float) -> None:
        waiting = [child for child in children if child.popen is not None]
        for child in waiting:
            child.signal(child.program.stop)
        deadline = time.monotonic() + seconds
        while waiting and time.monotonic() < deadline and not self._impatient:
            self.turn(0.05)
            waiting = [child for child in waiting if child.popen and child.popen.poll() is None]
        for child in waiting:
            self.say(f"{child.program.name} did not stop within {seconds:g} s; it is ended")
            child.signal(child.program.harder)
        hard_deadline = time.monotonic() + HARD_SECONDS
        while any(c.popen and c.popen.poll() is None for c in waiting) and time.monotonic() < hard_deadline:
            self.turn(0.05)
        for child in children:
            if child.popen is not None:
                if child.popen.poll() is None:
                    child.popen.kill()
                    child.popen.wait()
                child.kill_group()


def _readable(fd: int) -> bool:
    with selectors.DefaultSelector() as one:
        one.register(fd, selectors.EVENT_READ)
        return bool(one.select(0))
