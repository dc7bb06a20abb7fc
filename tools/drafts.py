"""Drafts of contracts: a person writes the next version of a tool's declaration; nothing of it is in force.

A tool has at most one draft that is worked on: the newest. Whoever saves says which content they saw; when somebody else
saved meanwhile, nothing is overwritten.
"""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.canonical import digest
from accounts.errors import Refused
from tools import standing
from tools.contracts import BOOKKEEPING, definition, rules
from tools.models import Contract, Tool

CHANGED = _(
    "Somebody else saved this draft meanwhile. Yours was not saved; it still stands here, with the difference to theirs."
)


def content(contract: Contract) -> dict[str, Any]:
    """Everything that a person declares, without the number of the version."""
    declared = {**definition(contract), **rules(contract)}
    del declared["version"]
    return declared


def seen(contract: Contract | None) -> str:
    """Names the content that a page showed; empty when there was none."""
    return digest(content(contract)) if contract else ""


def current(*, tool: Tool) -> tuple[Contract | None, Contract | None]:
    """The version in force and the draft after it, each None when there is none."""
    rows = list(Contract.everywhere.select_related("tool").filter(tool=tool).order_by("-version"))
    live = next((row for row in rows if row.status == Contract.Status.PUBLISHED), None)
    draft = next((row for row in rows if row.status == Contract.Status.DRAFT), None)
    return live, draft


def save(*, tool_id: uuid.UUID, by: uuid.UUID, declared: dict[str, Any], seen_before: str) -> Contract:
    """Makes the draft or changes it; a review that was asked for is void then. Saved as it was, it stays whose it is.
    Owns its transaction. Raises :class:`accounts.errors.Refused` when ``seen_before`` is not the content of the newest
    version."""
    with transaction.atomic(durable=True):
        tool = Tool.everywhere.select_for_update().get(pk=tool_id)
        live, draft = current(tool=tool)
        if seen_before != seen(draft or live):
            raise Refused("changed", CHANGED)
        if draft is None:
            newest = Contract.everywhere.filter(tool=tool).aggregate(newest=Max("version"))["newest"] or 0
            draft = Contract(tenant_id=tool.tenant_id, tool=tool, version=newest + 1)
        for name, value in declared.items():
            setattr(draft, name, value)
        if not draft._state.adding and seen(draft) == seen_before:
            return draft
        standing.void(tool=tool, by=by)
        draft.created_by_id = by
        draft.save()
        _note(draft, "contract.drafted", by)
    return draft


def discard(*, tool_id: uuid.UUID, by: uuid.UUID) -> bool:
    """Throws the draft away; False when there is none. Owns its transaction."""
    with transaction.atomic(durable=True):
        tool = Tool.everywhere.select_for_update().get(pk=tool_id)
        _live, draft = current(tool=tool)
        if draft is None:
            return False
        standing.void(tool=tool, by=by)
        _note(draft, "contract.discarded", by)
        draft.delete()
    return True


def create(*, tenant_id: uuid.UUID, by: uuid.UUID, name: str, title: str, description: str) -> Tool:
    """A new tool without any contract: nobody can call it. Owns its transaction. Raises :class:`accounts.errors.Refused`
    for a name that is taken."""
    with transaction.atomic(durable=True):
        return _created(tenant_id, by, name, title, description)


def imported(
    *, tenant_id: uuid.UUID, by: uuid.UUID, name: str, title: str, description: str, declared: dict[str, Any]
) -> Contract:
    """A new tool with a first draft for a person to confirm. Joins the caller's transaction; raises as :func:`create`."""
    tool = _created(tenant_id, by, name, title, description)
    draft = Contract(tenant_id=tenant_id, tool=tool, version=1, created_by_id=by, **declared)
    draft.save()
    _note(draft, "contract.imported", by)
    return draft


def _created(tenant_id: uuid.UUID, by: uuid.UUID, name: str, title: str, description: str) -> Tool:
    tool: Tool
    tool, made = Tool.everywhere.get_or_create(
        tenant_id=tenant_id, name=name, defaults={"title": title, "description": description}
    )
    if not made:
        raise Refused("taken", _("There is a tool of that name already. Nothing was made."), field="name")
    audit.append(
        tenant_id=tenant_id,
        act="tool.created",
        subject=("tool", tool.pk.hex),
        payload={"tool": name, "title": title},
        actor=by,
        channel="page",
    )
    return tool


def copied(contract: Contract) -> Contract:
    """An unsaved draft with the content of another version."""
    fields = [
        field.attname
        for field in Contract._meta.concrete_fields
        if field.name not in (*BOOKKEEPING, "version")
    ]
    made = Contract(tenant_id=contract.tenant_id, tool=contract.tool, version=contract.version + 1)
    for name in fields:
        setattr(made, name, getattr(contract, name))
    return made


def _note(draft: Contract, act: str, by: uuid.UUID) -> None:
    audit.append(
        tenant_id=draft.tenant_id,
        act=act,
        subject=("contract", draft.pk.hex),
        payload={"tool": draft.tool.name, "version": draft.version, "content_digest": seen(draft)},
        actor=by,
        channel="page",
    )
