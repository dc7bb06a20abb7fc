"""A server says something else of a tool than its contract in force pins: the tool is quarantined (B68).

It is paused by the house itself, with what was found, until an administrator decides: take over what the server says now
as a draft, keep it stopped, or let it go on (then the next call looks again). Grants under the old definition do not cover
another one: a run that is pinned to it calls nothing that the server does not offer any more.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from tools import drafts, sentences
from tools.mcp.definition import MISSING, WORDS, differences, digest
from tools.models import Contract, Tool


def note(*, contract_id: uuid.UUID, found: Mapping[str, Any] | None) -> bool:
    """A child was about to call under this contract and found another definition (None: the tool is gone). Owns its
    transaction. False when there is nothing to do: what is in force pins that very definition, or it is known already."""
    with transaction.atomic(durable=True):
        tool_id = Contract.everywhere.values_list("tool_id", flat=True).get(pk=contract_id)
        tool: Tool = Tool.everywhere.select_for_update(of=("self",)).get(pk=tool_id)
        live = Contract.everywhere.filter(tool=tool, status=Contract.Status.PUBLISHED).first()
        pinned = pinned_by(live)
        changed = differences(pinned, found) if pinned else []
        if live is None or not changed or (tool.drifted and tool.drifted["found"] == found):
            return False
        seen = {
            "found": None if found is None else dict(found),
            "changed": changed,
            "version": live.version,
        }
        said = sentences.GONE() if changed == [MISSING] else sentences.DRIFTED(parts=in_words(changed))
        paused: dict[str, Any] = (
            {"paused_at": Now(), "paused_reason": said[:500]} if not tool.paused_at else {}
        )
        Tool.everywhere.filter(pk=tool.pk).update(drifted=seen, **paused)
        _note(tool, "tool.quarantined", None, changed, found)
    return True


def take_over(*, tool_id: uuid.UUID, by: uuid.UUID, seen_before: str) -> Contract:
    """What the server says now as the next draft, everything else as it was; a person reads and publishes it. Owns its
    transaction. Raises :class:`accounts.errors.Refused`."""
    tool = Tool.everywhere.get(pk=tool_id)
    live, draft = drafts.current(tool=tool)
    base = draft or live
    found = (tool.drifted or {}).get("found")
    if found is None or base is None:
        raise Refused("no_drift", _("There is nothing to take over: the server offers no such tool."))
    declared = {
        "config": {**base.config, "definition": found},
        "input_schema": found["input_schema"] or {},
        "output_schema": found["output_schema"] or {},
    }
    if base is live:
        declared = {**fields_of(base), **declared}
    return drafts.save(tool_id=tool.pk, by=by, declared=declared, seen_before=seen_before)


def keep_stopped(*, tool_id: uuid.UUID, by: uuid.UUID, reason: str) -> bool:
    """A person does not want what the server offers now: the tool stays paused in their name. Owns its transaction. False
    when it is not quarantined any more. Raises :class:`accounts.errors.Refused` without a reason."""
    why = reason.strip()[:500]
    if not why:
        raise Refused("reason", _("Say why: others will read it. Nothing was changed."), field="reason")
    with transaction.atomic(durable=True):
        tool: Tool = Tool.everywhere.select_for_update(of=("self",)).get(pk=tool_id)
        if tool.drifted is None:
            return False
        Tool.everywhere.filter(pk=tool_id).update(
            drifted=None, paused_at=Now(), paused_by_id=by, paused_reason=why
        )
        _note(tool, "tool.change_rejected", by, tool.drifted["changed"], tool.drifted["found"])
    return True


def settled_by(contract: Contract) -> bool:
    """A contract that pins what was found ends the quarantine; a pause in a person's name stays. Joins the caller's
    transaction, which holds the tool."""
    tool = Tool.everywhere.get(pk=contract.tool_id)
    if tool.drifted is None or tool.drifted["found"] is None:
        return False
    if differences(pinned_by(contract), tool.drifted["found"]):
        return False
    lifted: dict[str, Any] = {} if tool.paused_by_id else {"paused_at": None, "paused_reason": ""}
    return bool(Tool.everywhere.filter(pk=tool.pk).update(drifted=None, **lifted))


def pinned_by(contract: Contract | None) -> dict[str, Any]:
    """The definition that a contract pins; empty when it pins none."""
    config = contract.config if contract and isinstance(contract.config, dict) else {}
    said = config.get("definition")
    return dict(said) if isinstance(said, dict) else {}


def fields_of(contract: Contract) -> dict[str, Any]:
    """Everything that a person declares, as the fields of the row have it."""
    copy = drafts.copied(contract)
    return {name: getattr(copy, name) for name in drafts.content(contract) if name != "tool"}


def in_words(changed: Sequence[str]) -> str:
    """``description, hints``."""
    return ", ".join(WORDS.get(part, part) for part in changed)


def _note(
    tool: Tool, act: str, by: uuid.UUID | None, changed: Sequence[str], found: Mapping[str, Any] | None
) -> None:
    audit.append(
        tenant_id=tool.tenant_id,
        act=act,
        subject=("tool", tool.pk.hex),
        payload={
            "tool": tool.name,
            "changed": list(changed),
            "found_digest": digest(found) if found else None,
        },
        actor=by,
        actor_kind="person" if by else "engine",
        channel="page" if by else "system",
    )
