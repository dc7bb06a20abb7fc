"""Children that cannot outlive their parent."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from config.embedded.privileges import Runner

_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(sig: int) -> None:
    """Ask the kernel to send `sig` when the parent's thread ends. Elsewhere than on Linux it does nothing."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, sig)


def adopt_orphans() -> None:
    """Become the parent of grandchildren whose parent dies, so that none is overlooked at the end."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)


def bind(sig: int, runner: Runner | None) -> Callable[[], None]:
    """What a child does between fork and exec: its own group, fewer rights, death with the parent.

    The order matters: a change of credentials clears the death signal, and a parent that died before the
    signal was set is noticed by its missing pid.
    """
    parent = os.getpid()

    def prepare() -> None:
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if runner is not None:
            runner.become()
        die_with_parent(sig)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    death: signal.Signals,
    output: int | IO[bytes],
    runner: Runner | None = None,
    cwd: str | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a bound child in its own process group. Call it from a thread that lives as long as the child."""
    return subprocess.Popen(
        command,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        pass_fds=tuple(pass_fds),
        # Safe here: whoever starts servers has one thread.
        preexec_fn=bind(death, runner),  # noqa: PLW1509
    )
