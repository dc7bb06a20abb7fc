"""Calls a tool of an MCP server, once. No Django; the SDK is loaded with the first call.

``config``: ``server`` names one of this deployment (then ``target`` is empty), else ``target`` is the address of streamable
HTTP and ``auth`` what proves who we are (as for ``http``). ``tool`` is the name there, ``definition`` what the server said
of it when a person confirmed it. Without a ``tool`` a call asks for the list, which is all it can do. ``errors``: what a
result that the server marks as an error means for an effect: ``unclear`` (nobody can tell), or ``not_done``.
"""

from collections.abc import Awaitable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tools import web
from tools.adapters.base import Answer, Context, Failed, Go
from tools.adapters.kind import Declared, Fault, Shown, auth_secret
from tools.adapters.kind import words as _
from tools.mcp import servers, source
from tools.mcp.definition import PARTS

if TYPE_CHECKING:
    from tools.mcp.calling import Wanted

ERRORS = ("unclear", "not_done")


def prepare(spec: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, Any]) -> "Wanted":
    """Finds the server and what proves who we are; starts nothing. Raises :class:`Failed`."""
    from tools.mcp.calling import Wanted

    config: Mapping[str, Any] = spec.get("config") or {}
    tool, reads = str(config.get("tool") or ""), spec.get("effect") == "read_only"
    if not tool and not reads:
        raise Failed("bad_contract", "Only asking for the list needs no tool. Nothing was called.")
    return Wanted(
        source.of(spec, tenant),
        tool,
        arguments,
        dict(config.get("definition") or {}),
        reads,
        config.get("errors") == "not_done",
    )


def send(prepared: "Wanted", go: Go | None, ctx: Context) -> Awaitable[Answer]:
    """One session with one call in it. Raises :class:`Failed` and :class:`tools.adapters.base.Unknown`."""
    from tools.mcp.calling import call

    if not prepared.reads and go is None:
        raise Failed("no_permission", "An effect is sent only after begin. Nothing was sent.")
    return call(prepared, None if prepared.reads else go, ctx)


def faults(contract: Declared) -> Iterator[Fault]:
    """What speaks against publishing."""
    if contract.isolation == "io":
        text = _("MCP servers are called from a thread or a process: its isolation is 'thread' or 'cpu'.")
        yield Fault("isolation_unfit", text, where="isolation")
    config: Mapping[str, Any] = contract.config if isinstance(contract.config, dict) else {}
    server = str(config.get("server") or "")
    if server and server not in servers.configured():
        text = _("This deployment has no MCP server called %(server)s.")
        yield Fault("server_missing", text, {"server": server}, "config")
    if not server:
        try:
            web.address(contract.target)
        except web.NotSent:
            text = _("An MCP tool needs the name of a server of this deployment, or an address.")
            yield Fault("target_missing", text, where="target")
    if config.get("errors", "unclear") not in ERRORS:
        text = _("What an error of the server means is 'unclear' or 'not_done'.")
        yield Fault("errors_unknown", text, where="config")
    yield from _pinned(contract, config)


def _pinned(contract: Declared, config: Mapping[str, Any]) -> Iterator[Fault]:
    if not config.get("tool"):
        if contract.effect_class != "read_only":
            text = _("Without the name of a tool it only asks for the list, which is read-only.")
            yield Fault("tool_missing", text, where="config")
        return
    said = config.get("definition")
    if not isinstance(said, dict) or set(said) != set(PARTS) or said["name"] != config["tool"]:
        text = _(
            "What the server said of the tool is not pinned: import the tool, so that a change is noticed."
        )
        yield Fault("definition_missing", text, where="config")


def receiver(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], proposed: str) -> str:
    """The server and its tool, whatever the agent says beside it."""
    where = str(config.get("server") or "") or target
    return f"{config.get('tool') or 'tools/list'} @ {where}"


def shown(
    target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, str]
) -> Shown | None:
    """``mcp`` with the server and the name of the tool there."""
    where = str(config.get("server") or "") or target
    return Shown({"mcp": {"server": where, "tool": str(config.get("tool") or "tools/list")}})


def secrets(config: Mapping[str, Any]) -> list[str]:
    """Those of the contract, and those that the deployment gives to the server it names."""
    server = servers.configured().get(str(config.get("server") or ""))
    return list(dict.fromkeys([*auth_secret(config), *(server.secrets.values() if server else ())]))
