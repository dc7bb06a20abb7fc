"""What the rights to one question hang on: who is active with which roles, who is in its group, who is away.

Read at the moment of the act, for one person or for everybody, in at most three queries either way, and one more once it was
escalated.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from accounts import rights
from accounts.models import Absence, Membership, Role
from approvals.models import PendingAction


@dataclass(frozen=True, slots=True)
class Staff:
    """Facts, not judgements. ``group`` are the members of the group that the policy names: None when no such group is
    open, and of no meaning when the policy names none. ``owners`` are those who get what nobody else can
    decide, once it was escalated."""

    members: Mapping[uuid.UUID, Membership]
    group: frozenset[uuid.UUID] | None
    absences: Mapping[uuid.UUID, tuple[Absence, ...]]
    owners: frozenset[uuid.UUID]

    def until(self, user_id: uuid.UUID) -> datetime | None:
        """When this person is back; None for who is here."""
        return max((one.ends_at for one in self.absences.get(user_id, ())), default=None)

    def stands_in(self, user_id: uuid.UUID, *, absent: uuid.UUID) -> bool:
        """Whether ``absent`` is away now and named this person. A stand-in's own stand-in is not asked."""
        return any(one.stand_in_id == user_id for one in self.absences.get(absent, ()))


def role_of(action: PendingAction) -> str:
    """The role that the rule names."""
    return str(action.policy.get("role") or Role.APPROVER.value)


def group_of(action: PendingAction) -> str:
    """The group that the rule names on top of the role; empty for none."""
    return str(action.policy.get("group") or "")


def read(action: PendingAction, user_ids: Iterable[uuid.UUID] | None = None) -> Staff:
    """The facts for these people and for whom the question was handed to; without ``user_ids``, for everybody."""
    asked = None if user_ids is None else {*user_ids, *([action.assignee_id] if action.assignee_id else [])}
    found = rights.live(tenant_id=action.tenant_id, user_ids=asked)
    named = group_of(action)
    absent: dict[uuid.UUID, tuple[Absence, ...]] = {}
    if asked is None or action.assignee_id:
        for one in rights.away(tenant_id=action.tenant_id, user_ids=asked):
            absent[one.user_id] = (*absent.get(one.user_id, ()), one)
    return Staff(
        members={one.user_id: one for one in found},
        group=rights.group_members(tenant_id=action.tenant_id, name=named) if named else frozenset(),
        absences=absent,
        owners=_owners(action, found, asked is None) if action.escalated_at else frozenset(),
    )


def _owners(action: PendingAction, found: list[Membership], everybody: bool) -> frozenset[uuid.UUID]:
    """As ``rights.escalation_owners``, as far as they are among the people who were read."""
    named = found[0].tenant.escalation_owner_id if found else None
    if named in {one.user_id for one in found}:
        return frozenset([named])
    if named and not everybody and rights.membership(user_id=named, tenant_id=action.tenant_id):
        return frozenset()
    return frozenset(one.user_id for one in found if Role.ADMINISTRATOR in one.roles)
