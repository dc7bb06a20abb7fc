"""Plain builders for who may decide: groups, absences, and questions that are nothing but their rule."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.ids import new_id
from accounts.models import Absence, Group, GroupMember, Tenant, User
from approvals import rules, staff
from approvals.models import Decision, PendingAction
from tests.make import people
from tests.tools import make as bench
from tools.models import Contract, Intent

small = people.cast
_VERDICTS = {
    "approve": ["approve", "reject"],
    "settle": ["happened", "not_happened", "nobody_knows"],
    "take_over": ["continue", "fail"],
    "answer": ["answer"],
}


def group(of: Tenant, name: str, *members: User) -> Group:
    made: Group = Group.everywhere.create(tenant=of, name=name)
    for user in members:
        GroupMember.everywhere.create(tenant=of, group=made, user=user)
    return made


def absence(of: Tenant, user: User, **values: Any) -> Absence:
    """Away since yesterday, for another day."""
    now = timezone.now()
    given = {"begins_at": now - timedelta(days=1), "ends_at": now + timedelta(days=1), **values}
    made: Absence = Absence.everywhere.create(tenant=of, user=user, **given)
    return made


def bare(of: Tenant, *, submitter: User, kind: str = "approve", **values: Any) -> PendingAction:
    """An open question without a task behind it: for what only looks at the rule."""
    given: dict[str, Any] = {
        "run_id": new_id(),
        "sentence": "Send a letter",
        "shown": b"{}",
        "digest": "0" * 64,
        "verdicts": _VERDICTS[kind],
        "policy": {"role": "approver"},
        "expires_at": timezone.now() + timedelta(days=3),
        "intent": _intent(of) if kind in ("approve", "settle") else None,
        **values,
    }
    made: PendingAction = PendingAction.everywhere.create(tenant=of, submitter=submitter, kind=kind, **given)
    return made


def _intent(of: Tenant) -> Intent:
    contract = Contract.everywhere.filter(tenant=of).first() or bench.contract(of)
    made: Intent = bench.intent(contract, authorised=False)
    return made


def signed(one: PendingAction, by: User, *, at: datetime | None = None) -> Decision:
    """A signature that was given, whoever may give it."""
    made: Decision = Decision.everywhere.create(
        tenant_id=one.tenant_id,
        action=one,
        user=by,
        channel="web",
        verdict="approve",
        digest_seen=one.digest,
        generation=one.generation,
        **({"at": at} if at else {}),
    )
    return made


def held(one: PendingAction, by: User) -> None:
    """Claimed by this person for a while."""
    until = timezone.now() + timedelta(minutes=20)
    PendingAction.everywhere.filter(pk=one.pk).update(claimed_by=by, claimed_until=until)


def answers_for(one: PendingAction, person: User) -> bool:
    """Whether role and group of a person answer for a question, whoever it was handed to and whoever signed."""
    facts = staff.read(one, [person.pk])
    return (
        person.pk in facts.members
        and person.pk != one.submitter_id
        and not rules._lacks(one, facts, person.pk)
    )
