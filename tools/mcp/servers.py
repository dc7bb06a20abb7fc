"""The MCP servers that the deployment lets this house start (``COUNTERSIGN_MCP_SERVERS``). A contract names one; what is
run, where and with what environment is the deployment's word alone."""

import logging
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accounts.canonical import BadInput, digest, strict_loads

log = logging.getLogger(__name__)

SETTING = "COUNTERSIGN_MCP_SERVERS"
#: A target that begins like this names a server; any other is an address.
STDIO = "stdio:"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PATH = "/usr/local/bin:/usr/bin:/bin"
_KNOWN = {"command", "cwd", "env", "secrets", "tenants", "memory_mb"}


@dataclass(frozen=True, slots=True)
class Server:
    """``secrets``: variable → name of a secret of the tenant. ``tenants``: slugs; none: all of them. ``memory_mb`` limits
    its address space (10**6 bytes)."""

    name: str
    command: tuple[str, ...]
    cwd: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    tenants: tuple[str, ...] = ()
    memory_mb: int = 4096

    def serves(self, tenant: str) -> bool:
        """Whether a tenant (its slug) may use it."""
        return not self.tenants or tenant in self.tenants

    @property
    def folder(self) -> str:
        """Where it runs."""
        return self.cwd or tempfile.gettempdir()

    @property
    def identity(self) -> str:
        """Names what is run: another command under the same name is another endpoint. Tells nothing of it."""
        return digest([list(self.command), self.cwd, dict(self.env)])

    def environment(self, secrets: Mapping[str, str]) -> dict[str, str]:
        """All that the process sees of the world: nothing of ours."""
        plain = {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": self.folder}
        return {**plain, **self.env, **{name: secrets[of] for name, of in self.secrets.items()}}


def parse(text: str) -> dict[str, Server]:
    """The servers of a setting, by name. Raises ``ValueError`` in plain words."""
    if not text.strip():
        return {}
    try:
        given = strict_loads(text)
    except BadInput as bad:
        raise ValueError(f"{SETTING} is no JSON: {bad.text}") from bad
    if not isinstance(given, dict):
        raise ValueError(
            f'{SETTING} is an object, like {{"git": {{"command": ["/usr/bin/mcp-server-git"]}}}}'
        )
    return {name: _server(name, value) for name, value in given.items()}


def configured() -> dict[str, Server]:
    """Those of this process's environment; none when they cannot be read (``manage.py check`` says why)."""
    try:
        return parse(os.environ.get(SETTING, ""))
    except ValueError as error:
        log.error("%s", error)
        return {}


def named(target: str) -> str:
    """The name of the server that a target names; empty when it is an address."""
    return target.removeprefix(STDIO) if target.startswith(STDIO) else ""


def _server(name: str, given: Any) -> Server:
    def wrong(why: str) -> ValueError:
        return ValueError(f"{SETTING}: {name!r} {why}")

    if not _NAME.match(name):
        raise wrong("is no name: small letters, digits, - and _, at most 40")
    if not isinstance(given, dict):
        raise wrong("is not an object with a command")
    if unknown := sorted(set(given) - _KNOWN):
        raise wrong(f"has {unknown[0]!r}, which nothing knows")
    command = given.get("command")
    if not isinstance(command, list) or not command or not all(isinstance(a, str) and a for a in command):
        raise wrong("needs a command: a list of texts, the program first")
    if not Path(command[0]).is_absolute():
        raise wrong("needs the whole path of its program")
    for table in ("env", "secrets"):
        pairs = given.get(table, {})
        if not isinstance(pairs, dict) or not all(
            _VARIABLE.match(key) and isinstance(value, str) for key, value in pairs.items()
        ):
            raise wrong(f"{table} maps names of variables to texts")
    tenants = given.get("tenants", [])
    if not isinstance(tenants, list) or not all(isinstance(one, str) for one in tenants):
        raise wrong("tenants is a list of slugs")
    memory = given.get("memory_mb", 4096)
    if not isinstance(memory, int) or isinstance(memory, bool) or memory < 64:
        raise wrong("memory_mb is a whole number, 64 at least")
    cwd = given.get("cwd", "")
    if not isinstance(cwd, str) or (cwd and not Path(cwd).is_absolute()):
        raise wrong("cwd is a whole path")
    return Server(
        name,
        tuple(command),
        cwd,
        given.get("env", {}),
        given.get("secrets", {}),
        tuple(tenants),
        memory,
    )
