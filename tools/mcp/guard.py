"""Runs one MCP server and sees to its end: ``python -I -S guard.py PARENT MEMORY CPU COMMAND…``. A program of its own, of
the standard library alone.

The server has limits and a process group of its own. When it ends, when our caller dies or says so (SIGTERM), all of its
group is killed. PARENT is the pid of the caller, MEMORY in bytes of address space, CPU in seconds.
"""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
from types import FrameType

_PR_SET_PDEATHSIG = 1
_FILES = 512
_LARGEST_FILE = 1 << 30
#: Exit statuses of our own: the server could not be started, our caller was gone.
NOT_STARTED, ORPHANED = 126, 125

_server: subprocess.Popen[bytes] | None = None
_over = False


def main() -> int:
    global _server  # noqa: PLW0603 - a signal handler has no other place
    parent, memory, cpu, command = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    signal.signal(signal.SIGTERM, _end)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return ORPHANED
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_CPU, cpu)
    _limit(resource.RLIMIT_NOFILE, _FILES)
    _limit(resource.RLIMIT_FSIZE, _LARGEST_FILE)
    _limit(resource.RLIMIT_CORE, 0)
    try:
        _server = subprocess.Popen(command, process_group=0)
    except OSError as error:
        sys.stderr.write(f"It could not be started: {error.strerror}\n")
        return NOT_STARTED
    if _over:
        _kill()
    # The ends of its pipes are its own now: when it closes them, the caller hears it.
    os.close(0)
    os.close(1)
    os.waitid(os.P_PID, _server.pid, os.WEXITED | os.WNOWAIT)
    _kill()
    code = _server.wait()
    return code if code >= 0 else 128 - code


def _limit(which: int, most: int) -> None:
    _soft, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def _end(number: int, frame: FrameType | None) -> None:
    global _over  # noqa: PLW0603
    _over = True
    _kill()


def _kill() -> None:
    """All of the server's group. While the server is not reaped, its number is nobody else's."""
    if _server is not None and _server.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(_server.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
