"""Contracts come into force: draft, publish, retire.

At any time at most one version of a tool is in force; runs that are under way stay pinned to the version
they have.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext_noop as _

from accounts import arrows, audit
from accounts.canonical import digest
from tools import compensation, drifts, named, publish_rule, quotas, reviews, staffing, standing, vault
from tools.contracts import contradictions, definition_digest, rules
from tools.errors import ContractRefused
from tools.models import Contract, Tool
from tools.reasons import Problem
from tools.selectors import query_tool


def draft(*, tool: Tool, by: uuid.UUID | None = None, **declared: Any) -> Contract:
    """A new version of a tool's contract that is not in force yet. Joins the caller's transaction."""
    Tool.everywhere.select_for_update().get(pk=tool.pk)
    newest = Contract.everywhere.filter(tool=tool).aggregate(newest=Max("version"))["newest"] or 0
    made: Contract = Contract.everywhere.create(
        tenant_id=tool.tenant_id, tool=tool, version=newest + 1, created_by_id=by, **declared
    )
    return made


def publish(*, contract_id: uuid.UUID, by: uuid.UUID, note: str = "", channel: str = "page") -> Contract:
    """A person puts a draft in force and may say why. Owns its transaction.

    Raises :class:`ContractRefused` when the contract contradicts itself, :class:`accounts.errors.Refused` when the tenant
    asks for a second administrator and this is none, or :class:`arrows.RefusedTransition` when it is no draft any more.
    """
    with transaction.atomic(durable=True):
        return put_in_force(contract_id=contract_id, by=by, note=note, channel=channel)


def put_in_force(
    *,
    contract_id: uuid.UUID,
    by: uuid.UUID | None,
    note: str = "",
    channel: str = "system",
    beside: Mapping[str, Contract] | None = None,
) -> Contract:
    """As :func:`publish`, joining the caller's transaction; without a person for the contracts of an
    installation. ``beside``: drafts that come into force in the same transaction, by the name of their tool."""
    tool_id = Contract.everywhere.values_list("tool_id", flat=True).get(pk=contract_id)
    Tool.everywhere.select_for_update().get(pk=tool_id)
    contract: Contract = Contract.everywhere.select_related("tool").get(pk=contract_id)
    if contract.status != Contract.Status.DRAFT:
        raise arrows.RefusedTransition("Contract", "publish", contract.status)
    if problems := _problems(contract, by, beside or {}):
        raise ContractRefused(problems)
    review = None
    if by is not None and publish_rule.needed(tenant_id=contract.tenant_id):
        review = reviews.answerable(tool=contract.tool, draft=contract, by=by)
    before = Contract.everywhere.filter(tool_id=tool_id, status=Contract.Status.PUBLISHED).first()
    if before is not None:
        arrows.move(before, "retire")
    signed = {
        "definition_digest": definition_digest(contract),
        "published_by_id": by,
        "published_at": Now(),
        "published_note": note.strip()[: reviews.LONGEST],
    }
    arrows.move(contract, "publish", changes=signed)
    if review is not None and by is not None:
        standing.published(review=review, by=by)
    elif by is not None:
        standing.void(tool=contract.tool, by=by)
    ended = drifts.settled_by(contract)
    audit.append(
        tenant_id=contract.tenant_id,
        act="contract.published",
        subject=("contract", contract.pk.hex),
        payload={
            "tool": contract.tool.name,
            "version": contract.version,
            "definition_digest": signed["definition_digest"],
            "rules_digest": digest(rules(contract)),
            "retired_version": before.version if before else None,
            "asked_by": review.asked_by_id.hex if review else None,
            "note": signed["published_note"],
            **({"ends_quarantine": True} if ended else {}),
        },
        actor=by,
        actor_kind="person" if by else "installation",
        channel=channel,
    )
    quotas.forget()
    published: Contract = Contract.everywhere.select_related("tool").get(pk=contract_id)
    return published


def retire(*, contract_id: uuid.UUID, by: uuid.UUID, channel: str = "page") -> Contract:
    """A person takes a contract out of force without a successor: its tool cannot be planned any more. Owns
    its transaction. Raises :class:`ContractRefused` while it undoes what others do."""
    with transaction.atomic(durable=True):
        contract: Contract = (
            Contract.everywhere.select_for_update().select_related("tool").get(pk=contract_id)
        )
        if others := named.leaning(contract):
            names = {"others": ", ".join(other.tool.name for other in others)}
            raise ContractRefused([Problem("undo_in_use", compensation.STILL_NAMED, names)])
        arrows.move(contract, "retire")
        audit.append(
            tenant_id=contract.tenant_id,
            act="contract.retired",
            subject=("contract", contract.pk.hex),
            payload={"tool": contract.tool.name, "version": contract.version},
            actor=by,
            channel=channel,
        )
    return contract


def _problems(contract: Contract, by: uuid.UUID | None, beside: Mapping[str, Contract]) -> list[Problem]:
    """With the members who could agree counted, and the tools that it names looked at, now. What an installation brings
    along is in force before its people and its secrets are there: for it, whoever submits counts."""
    tools = {**named.by(contract), **beside}
    found = [
        *contradictions(contract, tools=tools),
        *staffing.problems(contract, besides_submitter=by is not None),
        *named.broken(contract),
    ]
    if by is not None:
        found += vault.missing(contract)
    if contract.result_query and query_tool(contract) is None:
        text = _("There is no published tool %(name)s that only reads, so nothing can be asked.")
        found.append(Problem("query_unfit", text, {"name": contract.result_query}, "result_query"))
    return found
