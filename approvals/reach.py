"""Which questions a person may decide, as conditions for the database: ``approvals.rules`` in SQL.

Whoever changes one changes the other; ``tests/approvals/test_inbox_agrees.py`` holds them together.
"""

import uuid
from dataclasses import dataclass

from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, Exists, F, Func, OuterRef, Q, QuerySet, TextField, UUIDField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Now, NullIf

from accounts import rights
from accounts.models import Absence, GroupMember, Membership, Role
from approvals.models import PendingAction

Kind = PendingAction.Kind


@dataclass(frozen=True, slots=True)
class Reach:
    """What one person has to do with the rows of :func:`rows`. ``answers_for``: holds role and group. ``by_group``: its
    rule names a group of theirs. ``may_decide``: could give the main answer now."""

    administers: bool
    answers_for: Q
    by_group: Q
    own: Q
    edited: Q
    bound_elsewhere: Q
    may_decide: Q


def rows(*, tenant_id: uuid.UUID) -> QuerySet[PendingAction]:
    """The questions of a tenant with the role and the group of their rules beside them."""
    found: QuerySet[PendingAction] = PendingAction.everywhere.filter(tenant_id=tenant_id)
    return found.annotate(
        rule_role=Coalesce(
            NullIf(KT("policy__role"), Value("", output_field=TextField())),
            Value(Role.APPROVER.value, output_field=TextField()),
        ),
        rule_group=Coalesce(KT("policy__group"), Value("", output_field=TextField())),
    )


def of(*, user_id: uuid.UUID, tenant_id: uuid.UUID) -> Reach | None:
    """The conditions for a person; None for who is no active member. Two queries, and one more for an administrator."""
    membership = rights.membership(user_id=user_id, tenant_id=tenant_id)
    if membership is None:
        return None
    by_group = Q(rule_group__in=rights.groups_of(user_id=user_id, tenant_id=tenant_id))
    answers_for = Q(rule_role__in=list(membership.roles)) & (Q(rule_group="") | by_group)
    own = Q(submitter_id=user_id) & _submitters_may()
    edited = _edited(Value(user_id, output_field=UUIDField()))
    bound = _bound() & ~Q(assignee_id=user_id) & ~Q(Exists(_absences().filter(stand_in_id=user_id)))
    escalated = Q(pk__in=[])
    if rights.owns_escalations(membership):
        escalated = Q(escalated_at__isnull=False, undecidable_since__isnull=False)
    strangers = ~Q(submitter_id=user_id) & ~edited
    return Reach(
        administers=Role.ADMINISTRATOR in membership.roles,
        answers_for=answers_for,
        by_group=by_group,
        own=own,
        edited=edited,
        bound_elsewhere=bound,
        may_decide=own | (strangers & (escalated | (answers_for & ~bound))),
    )


def _submitters_may() -> Q:
    """Questions whose main answer their submitter may give."""
    asked = Q(policy__has_key="not_submitter", policy__not_submitter=False)
    return Q(kind=Kind.TAKE_OVER) | (Q(kind=Kind.ANSWER) & asked)


def _edited(who: Value | F) -> Q:
    """This person changed what would be sent, and the rule does not let editors approve."""
    among = Func(who, template="ARRAY[%(expressions)s]", output_field=ArrayField(UUIDField()))
    may = Q(policy__editor_may_approve=True, policy__has_key="editor_may_approve")
    return Q(kind=Kind.APPROVE, editors__contains=among) & ~may


def _bound() -> Q:
    """Handed to one person, who may still decide it."""
    role = Func(
        OuterRef("rule_role"), template="ARRAY[%(expressions)s]", output_field=ArrayField(CharField())
    )
    active = Membership.everywhere.filter(
        tenant_id=OuterRef("tenant_id"),
        user_id=OuterRef("assignee_id"),
        roles__contains=role,
        disabled_at__isnull=True,
        user__is_active=True,
        tenant__active=True,
    )
    placed = GroupMember.everywhere.filter(
        group__tenant_id=OuterRef("tenant_id"),
        group__name=OuterRef("rule_group"),
        group__closed_at__isnull=True,
        user_id=OuterRef("assignee_id"),
    )
    submitted = Q(assignee_id=F("submitter_id")) & ~_submitters_may()
    entitled = Q(Exists(active)) & (Q(rule_group="") | Q(Exists(placed)))
    return Q(assignee__isnull=False) & entitled & ~submitted & ~_edited(F("assignee_id"))


def _absences() -> QuerySet[Absence]:
    """Whom the question was handed to is away now."""
    rows: QuerySet[Absence] = Absence.everywhere.filter(
        tenant_id=OuterRef("tenant_id"),
        user_id=OuterRef("assignee_id"),
        begins_at__lte=Now(),
        ends_at__gt=Now(),
        cancelled_at__isnull=True,
    )
    return rows
