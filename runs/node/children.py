"""Main's side of a child process: the handle, and what it holds."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from accounts.ids import new_id
from runs.engine.types import Claimed
from runs.node import last_words
from runs.node.clock import boot
from runs.node.wire import Link

HOUSE = Path(__file__).resolve().parent.parent.parent
#: A child that does not read gets nothing more beyond so many waiting bytes.
MAX_WAITING = 1 << 20
#: Beyond its time limit a step's lease goes on for so many seconds: to be told, to plan, to be ended.
LAST_BREATH = 15.0
#: What only main may know.
_SECRETS = (
    "DATABASE_URL",
    "BROKER_URL",
    "CHANNEL_URL",
    "SECRET_KEY",
    "VAULT_KEYS",
    "AUDIT_KEYS",
    "METRICS_TOKEN",
)


@dataclass(slots=True)
class Entry:
    """A step that a child holds. ``renewed``: from before the claim or the last renewal was asked for; ``wall``: when its
    time is up; both on `clock.boot`. ``why`` and ``told_at``: it was told to stop; ``acknowledged``: its child heard that.
    ``asking``: an engine thread is about to answer whether it may begin. ``dispatch_id``: it may have sent. ``abandoned``:
    its outcome was reported without it, only its place is still taken. ``failed``: renewals that failed in a row.
    ``progressed``: when it last reported progress, 0 when it never did."""

    claimed: Claimed
    renewed: float
    renew_at: float
    wall: float
    why: str = ""
    told_at: float = 0.0
    acknowledged: bool = False
    asking: bool = False
    dispatch_id: uuid.UUID | None = None
    abandoned: bool = False
    failed: int = 0
    progressed: float = 0.0

    @property
    def last_breath(self) -> float:
        """From when its lease is not renewed any more, whatever became of ending it: nothing may breathe for ever (B37)."""
        return self.wall + LAST_BREATH


class Child:
    """One child process. Every field but ``link`` is guarded by the board's lock."""

    def __init__(self, kind: str, slots: int, *, lock: int, environment: Mapping[str, str]) -> None:
        """Starts it. Call it from the pump: the child dies with the thread that started it."""
        self.kind, self.slots = kind, slots
        self.id = new_id()
        self.started = boot()
        self.ready = self.leaving = self.dead = False
        self.inflight: dict[uuid.UUID, Entry] = {}
        #: It could not start in time what it had: until then it gets nothing more.
        self.rests_until = 0.0
        ours, theirs = socket.socketpair()
        shared = last_words.make()
        command = [sys.executable, "-m", "runs.node.child", kind]
        command += [str(theirs.fileno()), str(os.getpid()), str(slots), str(shared)]
        # Fork and exec: safe whatever main's threads hold. A session of its own: its group can be killed as a whole.
        self.process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno(), lock, shared],
            stdin=subprocess.DEVNULL,
            cwd=HOUSE,
            env=dict(environment),
            start_new_session=True,
        )
        theirs.close()
        self.last_words = last_words.LastWords(shared)
        os.close(shared)
        self.link = Link(ours)
        # Readable at its death, whoever else still holds the socket.
        self.pidfd = os.pidfd_open(self.process.pid)

    @property
    def pid(self) -> int:
        return self.process.pid

    def free(self) -> int:
        """How many more steps it takes."""
        if not self.ready or self.leaving or self.dead or len(self.link.waiting) > MAX_WAITING:
            return 0
        if self.rests_until and boot() < self.rests_until:
            return 0
        return self.slots - len(self.inflight)

    def kill(self) -> None:
        """SIGKILL, unless it is known to be dead: a closed descriptor's number may be somebody else's already."""
        if not self.dead:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def kill_group(self) -> None:
        """Processes that a tool started. Only between the child's death and :meth:`bury`, while its number is taken."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def bury(self) -> None:
        """After its death: frees its number and descriptors."""
        self.dead = True
        os.close(self.pidfd)
        self.link.sock.close()
        self.last_words.close()
        self.process.wait(5)


def environment(data_dir: Path) -> dict[str, str]:
    """What children inherit: no address and no key that only main needs."""
    kept = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    return {**kept, "DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1"}
