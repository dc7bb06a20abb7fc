"""What stops `make up`, for the person at the terminal: what happened, what was not done, what to do."""

from __future__ import annotations


class CannotStart(Exception):
    """The text is shown as it is; the process ends with code 1."""


def already_running(folder: str, pid: object, url: object) -> str:
    where = f", at {url}" if url else ""
    who = f" (process {pid}{where})" if pid else ""
    stop = f"stop it with Ctrl-C there or `kill {pid}`" if pid else "stop it with Ctrl-C there"
    return (
        f"Countersign is already running on {folder}{who}. Nothing was started.\n"
        f"Use the one that runs, or {stop}; a second one needs a DATA_DIR and a PORT of its own."
    )


def port_busy(port: int, name: str) -> str:
    return (
        f"Port {port} on 127.0.0.1 is in use by another program. Nothing was started.\n"
        f"Stop that program, or choose another port: make up {name}={port + 1}"
    )


def folder_unusable(folder: str, why: str) -> str:
    return (
        f"The data folder {folder} cannot be used: {why}. Nothing was started.\n"
        "Make it writable for this account, or name another one: make up DATA_DIR=/path/to/folder"
    )
