"""Whether there are people enough for what contracts ask: when one is published, and again when people leave.

Whoever submitted the task never counts (four eyes). So a policy can be satisfied when, for at least one person who may
submit, enough others hold the role that must agree and are in the group that it names. Who is away for a time counts.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_noop as _

from accounts import rights
from accounts.models import Group, Role, User
from tools import policy as policies
from tools.contradictions import asks_safely
from tools.models import Contract
from tools.reasons import Problem

MAY_SUBMIT = (Role.SUBMITTER, Role.ADMINISTRATOR)
#: So many people are named in one sentence.
NAMED = 5
TOO_FEW = _("The policy needs %(quorum)s people who may agree; besides whoever submits there are %(people)s.")
TOO_FEW_IN_GROUP = _(
    "The policy needs %(quorum)s people of the group %(group)s with the role %(role)s; besides whoever submits there are "
    "%(people)s."
)
WITHOUT_ROLE = _(
    "The policy needs %(quorum)s people of the group %(group)s with the role %(role)s; besides whoever submits there are "
    "%(people)s. Without the role are: %(names)s."
)
NO_GROUP = _("There is no group %(group)s, so nobody could agree.")
EMPTY_GROUP = _("Nobody is in the group %(group)s, so nobody could agree.")


@dataclass(frozen=True, slots=True)
class Shortage:
    """A tool in force whose strictest case nobody can allow any more: how many must agree, how many could at most, in which
    group, if the policy names one."""

    tool: str
    title: str
    role: str
    needed: int
    people: int
    group: str = ""


@dataclass(slots=True)
class Staff:
    """The people of a tenant, each question asked once."""

    tenant_id: uuid.UUID
    _holders: dict[str, dict[uuid.UUID, User]] = field(default_factory=dict)
    _groups: dict[str, frozenset[uuid.UUID] | None] = field(default_factory=dict)

    def holders(self, role: str) -> dict[uuid.UUID, User]:
        """Everybody who holds a role."""
        if role not in self._holders:
            people = rights.people_with(tenant_id=self.tenant_id, role=role)
            self._holders[role] = {user.pk: user for user in people}
        return self._holders[role]

    def group(self, name: str) -> frozenset[uuid.UUID] | None:
        """Who is in a group; None when there is none of that name."""
        if name not in self._groups:
            self._groups[name] = rights.group_members(tenant_id=self.tenant_id, name=name)
        return self._groups[name]

    def could_agree(self, policy: Any, *, besides_submitter: bool = True) -> int:
        """How many people at most could agree to a call under a policy, besides whoever submitted the task."""
        agree = set(self.holders(_role(policy)))
        if group := _group(policy):
            agree &= self.group(group) or frozenset()
        submit = {user for one in MAY_SUBMIT for user in self.holders(one.value)}
        return len(agree) - 1 if besides_submitter and submit and submit <= agree else len(agree)


def groups(*, tenant_id: uuid.UUID) -> list[str]:
    """The names of the groups that there are, in order."""
    rows = Group.everywhere.filter(tenant_id=tenant_id, closed_at__isnull=True)
    return list(rows.order_by("name").values_list("name", flat=True))


def problems(contract: Contract, *, besides_submitter: bool = True) -> list[Problem]:
    """Why nobody could allow the strictest case of a contract, as far as it ever asks a person. A policy that cannot be
    applied is the business of ``tools.contradictions``."""
    if policies.faults(contract.policy) or not asks_safely(contract):
        return []
    staff, policy = Staff(contract.tenant_id), contract.policy
    needed, group = policies.highest_quorum(policy), _group(policy)
    if group and not staff.group(group):
        code, text = (
            ("group_unknown", NO_GROUP) if staff.group(group) is None else ("group_empty", EMPTY_GROUP)
        )
        return [Problem(code, text, {"group": group}, "policy")]
    people = staff.could_agree(policy, besides_submitter=besides_submitter)
    if people >= needed:
        return []
    params: dict[str, Any] = {"quorum": needed, "people": people}
    if not group:
        return [Problem("policy_unsatisfiable", TOO_FEW, params, "policy")]
    idle = (staff.group(group) or frozenset()) - set(staff.holders(_role(policy)))
    params |= {"group": group, "role": _role(policy), "names": _names(idle)}
    text = WITHOUT_ROLE if params["names"] else TOO_FEW_IN_GROUP
    return [Problem("policy_unsatisfiable", text, params, "policy")]


def unsatisfiable(*, tenant_id: uuid.UUID) -> list[Shortage]:
    """The tools in force for which there are not people enough now, by name."""
    staff, found = Staff(tenant_id), []
    rows = Contract.everywhere.filter(tenant_id=tenant_id, status=Contract.Status.PUBLISHED)
    for contract in rows.select_related("tool").order_by("tool__name"):
        if not asks_safely(contract):
            continue
        needed, role = policies.highest_quorum(contract.policy), _role(contract.policy)
        people = staff.could_agree(contract.policy)
        if people < needed:
            tool = contract.tool
            found.append(Shortage(tool.name, tool.title, role, needed, people, _group(contract.policy)))
    return found


def _role(policy: Any) -> str:
    return str(
        policy.get("role", Role.APPROVER.value) if isinstance(policy, Mapping) else Role.APPROVER.value
    )


def _group(policy: Any) -> str:
    return str(policy.get("group") or "") if isinstance(policy, Mapping) else ""


def _names(people: Iterable[uuid.UUID]) -> str:
    found = User.objects.filter(pk__in=people, is_active=True).order_by("name")[: NAMED + 1]
    names = [str(user) for user in found]
    return ", ".join([*names[:NAMED], *(["…"] if len(names) > NAMED else [])])
