"""Ports on 127.0.0.1."""

from __future__ import annotations

import socket


def is_free(port: int) -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # A connection in TIME_WAIT does not stop a server, so it must not stop the probe either.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port(wanted: int = 0) -> int:
    """`wanted` when nobody listens there, else one that the system picks."""
    if wanted and is_free(wanted):
        return wanted
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
