"""A connection to an MCP server is a tool of its own, which only asks for the list: so it goes through contract, egress
rules, secrets and nodes like any other call, and leaves the same traces."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.errors import Refused
from tools import drafts, publish, publish_rule
from tools.mcp import servers
from tools.models import Contract, EffectClass, Risk, Tool
from tools.openapi import safe_name

#: How the name of a connection's tool ends.
ENDS = ".list_tools"
TWO = gettext_lazy(
    "Here publishing takes two administrators. %(tool)s is a draft now: have it reviewed and published, then ask again."
)
#: Seconds that asking for the list may take.
LIMIT = 30


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool of a server, and the draft that it would begin as."""

    name: str
    title: str
    definition: Mapping[str, Any]
    declared: Mapping[str, Any]
    claims: Sequence[str]

    @property
    def description(self) -> str:
        """The server's words."""
        return str(self.definition.get("description") or "")


def servers_for(slug: str) -> list[str]:
    """Names of the servers of this deployment that a tenant may use."""
    return sorted(name for name, server in servers.configured().items() if server.serves(slug))


def connect(
    *, tenant_id: uuid.UUID, by: uuid.UUID, begins: str, server: str = "", url: str = "", secret: str = ""
) -> Contract:
    """Puts the contract of the connection in force under this person's name, if it is not already. Owns its transaction.
    Raises :class:`accounts.errors.Refused` and :class:`tools.errors.ContractRefused`."""
    declared = _declared(server, url, secret)
    with transaction.atomic(durable=True):
        draft = _drafted(tenant_id, by, f"{begins}{ENDS}", begins, declared)
        if draft.status == Contract.Status.PUBLISHED:
            return draft
        alone = not publish_rule.needed(tenant_id=tenant_id)
        if alone:
            return publish.put_in_force(contract_id=draft.pk, by=by, channel="page")
    raise Refused("two_people", TWO % {"tool": draft.tool.name})


def _drafted(
    tenant_id: uuid.UUID, by: uuid.UUID, name: str, begins: str, declared: dict[str, Any]
) -> Contract:
    """The contract in force if it says just this, else a draft that does. Joins the caller's transaction."""
    tool = Tool.everywhere.select_for_update(of=("self",)).filter(tenant_id=tenant_id, name=name).first()
    if tool is None:
        return drafts.imported(
            tenant_id=tenant_id,
            by=by,
            name=name,
            title=_("List the tools of “%s”") % begins,
            description=_("Asks an MCP server what it offers. It can do nothing else."),
            declared=declared,
        )
    for known in drafts.current(tool=tool):
        if known and all(getattr(known, field) == value for field, value in declared.items()):
            return known
    return publish.draft(tool=tool, by=by, **declared)


def offered(*, definitions: Sequence[Mapping[str, Any]], connection: Contract) -> list[Offered]:
    """What a server said, as tools with safe names. All of it is its claim: whatever it does not call read-only is taken for
    irreversible and asks a person, and what it calls read-only waits for a person to confirm that."""
    begins = connection.tool.name.removesuffix(ENDS)
    taken: set[str] = {connection.tool.name}
    found = []
    for said in definitions:
        name = safe_name(begins, str(said["name"]), taken)
        taken.add(name)
        hints = said.get("annotations") or {}
        title = str(said.get("title") or hints.get("title") or said["name"])
        shown = "".join(sign for sign in title if sign.isprintable()).strip()[:200] or name
        found.append(Offered(name, shown, said, _draft_of(said, connection), _claims(hints)))
    return found


def _declared(server: str, url: str, secret: str) -> dict[str, Any]:
    parts = urlsplit(url)
    host = f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
    config: dict[str, Any] = {"server": server} if server else {}
    if secret and not server:
        config["auth"] = {"secret": secret}
    return {
        "adapter": "mcp",
        "target": "" if server else url,
        "config": config,
        "effect_class": EffectClass.READ_ONLY.value,
        "isolation": Contract.Isolation.THREAD.value,
        "timeout_seconds": LIMIT,
        "max_attempts": 1,
        "egress_hosts": [] if server else [host.lower()],
    }


def _draft_of(said: Mapping[str, Any], connection: Contract) -> dict[str, Any]:
    reads = (said.get("annotations") or {}).get("readOnlyHint") is True
    return {
        "adapter": "mcp",
        "target": connection.target,
        "config": {**connection.config, "tool": said["name"], "definition": dict(said), "errors": "unclear"},
        "input_schema": said.get("input_schema") or {},
        "output_schema": said.get("output_schema") or {},
        "effect_class": EffectClass.READ_ONLY if reads else EffectClass.IRREVERSIBLE,
        "risk": Risk.LOW if reads else Risk.MEDIUM,
        "policy": {} if reads else {"path": "approval"},
        "isolation": Contract.Isolation.THREAD,
        "max_attempts": 3 if reads else 1,
        "egress_hosts": list(connection.egress_hosts),
    }


def _claims(hints: Mapping[str, Any]) -> list[str]:
    """Its hints in words."""
    known = (
        ("readOnlyHint", True, _("it only reads")),
        ("readOnlyHint", False, _("it changes something")),
        ("destructiveHint", True, _("it may destroy something")),
        ("destructiveHint", False, _("it only adds")),
        ("idempotentHint", True, _("repeating it changes nothing more")),
        ("openWorldHint", True, _("it reaches beyond the server")),
        ("openWorldHint", False, _("it stays inside the server")),
    )
    # What only reads neither destroys nor adds.
    left_out = ("destructiveHint", "idempotentHint") if hints.get("readOnlyHint") is True else ()
    return [words for hint, value, words in known if hints.get(hint) is value and hint not in left_out]
