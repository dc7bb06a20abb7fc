"""One program that runs, ends, and is started again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from subprocess import Popen

from config.embedded import process
from config.readiness import READY_FD
from config.up.programs import Program

FIRST_DELAY, LONGEST_DELAY = 0.25, 30.0
# Who lived this long was well: the next death starts with a short delay again.
STEADY_SECONDS = 30.0
LOOP_DEATHS = 3


@dataclass
class Child:
    """`say` takes lines for the log. Times are of the monotonic clock, in seconds."""

    program: Program
    say: Callable[[str], None]
    popen: Popen[bytes] | None = None
    ready: bool = False
    deaths: int = 0
    started_at: float = 0.0
    again_at: float = 0.0
    output_fd: int | None = None
    ready_fd: int | None = None
    _partial: bytes = field(default=b"", repr=False)

    @property
    def running(self) -> bool:
        return self.popen is not None

    def is_ready(self) -> bool:
        return self.ready

    def start(self) -> None:
        """Start it; the caller watches `output_fd` and, when the program tells, `ready_fd`."""
        if self.program.before:
            self.program.before()
        out_read, out_write = os.pipe()
        env = dict(self.program.env)
        pass_fds: tuple[int, ...] = ()
        ready_write = None
        if self.program.tells:
            self.ready_fd, ready_write = os.pipe()
            env[READY_FD] = str(ready_write)
            pass_fds = (ready_write,)
        try:
            self.popen = process.start(
                self.program.command,
                env=env,
                death=self.program.stop,
                output=out_write,
                runner=self.program.runner,
                cwd=str(self.program.cwd),
                pass_fds=pass_fds,
            )
        finally:
            os.close(out_write)
            if ready_write is not None:
                os.close(ready_write)
        os.set_blocking(out_read, False)
        self.output_fd = out_read
        self.started_at = time.monotonic()
        self.ready = False

    def read_output(self) -> bool:
        """Pass on whole lines; False when the pipe has ended."""
        assert self.output_fd is not None
        try:
            data = os.read(self.output_fd, 65536)
        except BlockingIOError:
            return True
        *lines, self._partial = (self._partial + data).split(b"\n")
        if not data or len(self._partial) > 65536:
            lines, self._partial = [*lines, self._partial], b""
        for line in lines:
            text = line.decode(errors="replace").rstrip()
            if text and not any(noise in text for noise in self.program.noise):
                self.say(text)
        return bool(data)

    def read_ready(self) -> None:
        assert self.ready_fd is not None
        self.ready = bool(os.read(self.ready_fd, 1)) or self.ready
        os.close(self.ready_fd)
        self.ready_fd = None

    def ended(self) -> bool:
        """Whether it has just ended; plans the next start and says so."""
        if self.popen is None or self.popen.poll() is None:
            return False
        code, lived = self.popen.returncode, time.monotonic() - self.started_at
        self.kill_group()
        self.popen = None
        self.ready = False
        self.deaths = 1 if lived > STEADY_SECONDS else self.deaths + 1
        delay = min(FIRST_DELAY * 2 ** (self.deaths - 1), LONGEST_DELAY)
        self.again_at = time.monotonic() + delay
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        self.say(f"{self.program.name} {how} after {lived:.1f} s; it is started again in {delay:g} s")
        if self.deaths >= LOOP_DEATHS:
            self.say(
                f"{self.program.name} does not stay up: {self.deaths} ends in a row. "
                "What it said stands above. The rest goes on; Ctrl-C stops everything"
            )
        return True

    def signal(self, sig: signal.Signals) -> None:
        if self.popen is not None:
            self.popen.send_signal(sig)

    def kill_group(self) -> None:
        """What the child left in its own process group."""
        if self.popen is not None:
            try:
                os.killpg(self.popen.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return
