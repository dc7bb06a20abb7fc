"""Plain builders for the workbench."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import transaction

from accounts.ids import new_id
from accounts.models import Membership, Role, Tenant, User
from tools import intents, keys, publish, workers
from tools.models import Contract, EffectClass, Tool, WorkerProcess


def tenant(slug: str = "linden", **values: Any) -> Tenant:
    return Tenant.objects.create(
        slug=f"{slug}-{new_id().hex[-8:]}", name=slug.title(), mail_from=f"desk@{slug}.example", **values
    )


def person(of: Tenant, *roles: str, name: str = "Ben Okafor") -> User:
    user = User.objects.create_user(f"{new_id().hex}@{of.slug}.example", None, name=name)
    Membership.everywhere.create(tenant=of, user=user, roles=list(roles or (Role.APPROVER,)))
    return user


def tool(of: Tenant, name: str = "mail.send") -> Tool:
    made: Tool = Tool.everywhere.create(tenant=of, name=name, title=name)
    return made


DECLARED: dict[str, Any] = {
    "adapter": "python",
    "target": "drill.effect_final",
    "effect_class": EffectClass.IRREVERSIBLE,
}


def unsaved(**values: Any) -> Contract:
    """A contract for pure functions; touches no database."""
    owner = Tenant(slug="x", name="X")
    name = values.pop("tool_name", "drill.effect_final")
    return Contract(tenant=owner, tool=Tool(tenant=owner, name=name), version=1, **{**DECLARED, **values})


def contract(of: Tenant, name: str = "mail.send", **values: Any) -> Contract:
    """In force, with somebody who may agree, and with what undoes it."""
    undo = str(values.get("compensating_tool") or "")
    if undo and not Contract.everywhere.filter(tenant=of, tool__name=undo, status="PUBLISHED").exists():
        contract(of, undo)
    if not Membership.everywhere.filter(tenant=of).exists():
        person(of)
    known = Tool.everywhere.filter(tenant=of, name=name).first() or tool(of, name)
    with transaction.atomic():
        drafted = publish.draft(tool=known, **{**DECLARED, **values})
        return publish.put_in_force(contract_id=drafted.pk, by=None)


def intent(under: Contract, *, authorised: bool = True, **values: Any) -> Any:
    asked: dict[str, Any] = {
        "run_id": new_id(),
        "step_id": new_id(),
        "key": keys.key_for(
            tenant_id=under.tenant_id, lineage=new_id(), step_key="notice", tool=under.tool.name
        ),
        "arguments": {"to": "a@example.org"},
        "target": "a@example.org",
        "epoch": 0,
        **values,
    }
    return intents.propose(
        tenant_id=under.tenant_id, tool=under.tool.name, contract=under, authorised=authorised, **asked
    )


def node(**values: Any) -> WorkerProcess:
    return workers.register(
        **{
            "kind": "main",
            "node": "n1",
            "host": "h1",
            "boot_id": "b1",
            "pid": 100,
            "lockfile": "/run/n1",
            **values,
        }
    )


def sender(of: WorkerProcess | None = None, pid: int = 101) -> uuid.UUID:
    with transaction.atomic():
        return workers.child_sender(parent_id=(of or node()).pk, sender_id=new_id(), pid=pid)


_fence = 0


def fence() -> int:
    """Each one newer than the last."""
    global _fence  # noqa: PLW0603
    _fence += 1
    return _fence


def dispatched(under: Contract, *, by: uuid.UUID | None = None, seconds: float = 60, **values: Any) -> Any:
    made = intent(under, **values)
    return intents.dispatch(
        intent=made, sender_id=by or sender(), dispatch_id=new_id(), fence=fence(), deadline_seconds=seconds
    )


def in_state(under: Contract, status: str) -> Any:
    """An intent that came to a state by the verbs."""
    if status in ("PROPOSED", "AUTHORISED"):
        return intent(under, authorised=status == "AUTHORISED")
    if status == "VOIDED":
        return intents.void(intent_id=intent(under).pk)
    row = dispatched(under)
    if status in ("UNKNOWN", "ABANDONED"):
        row = intents.lose(intent_id=row.pk, dispatch_id=row.dispatch_id, evidence=None)
    if status in ("CONFIRMED", "COMPENSATED"):
        row = intents.confirm(intent_id=row.pk, answer={"first": True}, reference="first")
    match status:
        case "REJECTED":
            row = intents.refuse(intent_id=row.pk, dispatch_id=row.dispatch_id, evidence=None)
        case "ABANDONED":
            row = intents.abandon(intent_id=row.pk, evidence=None)
        case "COMPENSATED":
            row = intents.undo(intent_id=row.pk)
    assert row.status == status
    return row
