"""A child process of a node: ``python -m runs.node.child KIND SOCKET PARENT SLOTS SHARED``. Started by the pump alone."""

import contextlib
import ctypes
import gc
import os
import signal
import socket
import sys
from pathlib import Path

from runs.node import child_cpu, child_io
from runs.node.last_words import LastWords
from tools import toolbox

_PR_SET_PDEATHSIG = 1
#: Leases and commits first: children that compute give way. A loop does not compute.
_NICE = {"io": 0, "thread": 10, "cpu": 10}


def main() -> None:
    kind, number, parent, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Main decides when a child ends.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    give_way(_NICE[kind])
    sock = socket.socket(fileno=number)
    words = LastWords(int(sys.argv[5]))
    # Programs that a tool starts have no part in it.
    os.close(int(sys.argv[5]))
    toolbox.load()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    if kind == "cpu":
        child_cpu.serve(sock, words)
    else:
        child_io.serve(sock, words, threads=slots if kind == "thread" else 0)


def die_with_parent(parent: int) -> None:
    """SIGKILL when the thread that started us ends; a parent that died before we asked is noticed by its missing pid."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def give_way(nice: int) -> None:
    """With autogroups a nice value counts only inside a session; ours is our own, so it is asked to give way as a whole."""
    if not nice:
        return
    os.nice(nice)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(nice))


if __name__ == "__main__":
    main()
