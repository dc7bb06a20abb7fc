"""Where the tools of a contract come from: a server of this deployment, or an address."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools import web
from tools.adapters.base import Failed
from tools.mcp import servers
from tools.mcp.servers import Server


@dataclass(frozen=True, slots=True)
class Source:
    """Exactly one of ``server`` and ``url``. ``headers`` prove who we are; ``secrets`` are values by name."""

    server: Server | None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    egress: tuple[str, ...] = ()
    cpu_seconds: int = 60

    @property
    def endpoint(self) -> str:
        """What a definition is pinned to. Of a server its name and what is run under it, as a digest."""
        return f"stdio:{self.server.name}:{self.server.identity}" if self.server else self.url


def of(spec: Mapping[str, Any], tenant: Mapping[str, Any]) -> Source:
    """The source that a contract names. Raises :class:`Failed`."""
    config: Mapping[str, Any] = spec.get("config") or {}
    secrets: Mapping[str, str] = spec.get("secrets") or {}
    common: dict[str, Any] = {
        "secrets": secrets,
        "egress": tuple(spec.get("egress") or ()),
        "cpu_seconds": int(spec.get("cpu_seconds") or 60),
    }
    if name := str(config.get("server") or ""):
        server = servers.configured().get(name)
        if server is None or not server.serves(str(tenant.get("slug") or "")):
            raise Failed(
                "server_missing", f"This deployment has no MCP server {name!r} for you. Nothing was called."
            )
        for wanted in server.secrets.values():
            if wanted not in secrets:
                raise Failed("secret_missing", f"There is no secret called {wanted!r}. Nothing was called.")
        return Source(server, **common)
    url = str(spec.get("target") or "")
    try:
        web.address(url)
    except web.NotSent as bad:
        raise Failed(bad.code, bad.text) from bad
    return Source(None, url, proof(config.get("auth") or {}, secrets), **common)


def proof(auth: Mapping[str, Any], secrets: Mapping[str, str]) -> dict[str, str]:
    """The header of ``{"secret": name, "header": …, "prefix": …}``. Raises :class:`Failed`."""
    if not auth:
        return {}
    name = str(auth.get("secret") or "")
    if name not in secrets:
        raise Failed("secret_missing", f"There is no secret called {name!r}. Nothing was called.")
    return {str(auth.get("header") or "Authorization"): str(auth.get("prefix", "Bearer ")) + secrets[name]}
