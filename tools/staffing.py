"""Whether there are people enough for what contracts ask: when one is published, and again when people leave.

Whoever submitted the task never counts (four eyes). So a policy can be satisfied when, for at least one person who may
submit, enough others hold the role that must agree.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts import rights
from accounts.models import Role
from tools import policy as policies
from tools.contradictions import asks_safely
from tools.models import Contract

MAY_SUBMIT = (Role.SUBMITTER, Role.ADMINISTRATOR)


@dataclass(frozen=True, slots=True)
class Shortage:
    """A tool in force whose strictest case nobody can allow any more: how many must agree, how many could at most."""

    tool: str
    title: str
    role: str
    needed: int
    people: int


def could_agree(*, tenant_id: uuid.UUID, policy: Any) -> int:
    """How many people at most could agree to a call under this policy, besides whoever submitted the task."""
    return _most(tenant_id, _role(policy), {})


def unsatisfiable(*, tenant_id: uuid.UUID) -> list[Shortage]:
    """The tools in force for which there are not people enough now, by name."""
    known: dict[str, set[uuid.UUID]] = {}
    found = []
    rows = Contract.everywhere.filter(tenant_id=tenant_id, status=Contract.Status.PUBLISHED)
    for contract in rows.select_related("tool").order_by("tool__name"):
        if not asks_safely(contract):
            continue
        needed, role = policies.highest_quorum(contract.policy), _role(contract.policy)
        people = _most(tenant_id, role, known)
        if people < needed:
            found.append(Shortage(contract.tool.name, contract.tool.title, role, needed, people))
    return found


def _role(policy: Any) -> str:
    return str(
        policy.get("role", Role.APPROVER.value) if isinstance(policy, Mapping) else Role.APPROVER.value
    )


def _most(tenant_id: uuid.UUID, role: str, known: dict[str, set[uuid.UUID]]) -> int:
    agree = _holders(tenant_id, role, known)
    submit = {user for one in MAY_SUBMIT for user in _holders(tenant_id, one.value, known)}
    return len(agree) - 1 if submit and submit <= agree else len(agree)


def _holders(tenant_id: uuid.UUID, role: str, known: dict[str, set[uuid.UUID]]) -> set[uuid.UUID]:
    if role not in known:
        known[role] = {user.pk for user in rights.people_with(tenant_id=tenant_id, role=role)}
    return known[role]
