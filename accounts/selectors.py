"""What the pages of this room show. All reads; scoped to the tenant that is named."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.mfa.models import Authenticator
from django.db.models import Exists, OuterRef, Prefetch
from django.db.models.functions import Now

from accounts import rights
from accounts.audit import ALERT
from accounts.models import (
    Absence,
    ApiToken,
    AuditEntry,
    AuditHead,
    Group,
    GroupMember,
    Invitation,
    Membership,
    Role,
    TokenScope,
)

#: How far back in the chain alerts are looked for, and how many are shown.
ALERTS_AMONG, ALERTS_SHOWN = 5_000, 20


@dataclass(frozen=True, slots=True)
class Person:
    """A row of the list of people. ``id`` is the membership's."""

    id: uuid.UUID
    name: str
    email: str
    you: bool
    roles: list[str]
    second_factor: bool
    last_seen: datetime | None
    disabled: bool
    groups: list[str]
    away_until: datetime | None


def people(*, tenant_id: uuid.UUID, reader_id: uuid.UUID) -> list[Person]:
    """Everybody of the tenant by name, disabled people last."""
    second = Authenticator.objects.filter(user_id=OuterRef("user_id"), type=Authenticator.Type.TOTP)
    rows = (
        Membership.everywhere.select_related("user")
        .filter(tenant_id=tenant_id)
        .annotate(second_factor=Exists(second))
        .order_by("user__name", "id")
    )
    gone = {one.user_id: one.ends_at for one in rights.away(tenant_id=tenant_id)}
    placed: dict[uuid.UUID, list[str]] = {}
    places = GroupMember.everywhere.filter(tenant_id=tenant_id, group__closed_at__isnull=True)
    for user_id, name in places.order_by("group__name").values_list("user_id", "group__name"):
        placed.setdefault(user_id, []).append(name)
    found = [
        Person(
            id=row.pk,
            name=row.user.name,
            email=row.user.email,
            you=row.user_id == reader_id,
            roles=role_words(row.roles),
            second_factor=row.second_factor,
            last_seen=row.user.last_login,
            disabled=row.disabled_at is not None or not row.user.is_active,
            groups=placed.get(row.user_id, []),
            away_until=gone.get(row.user_id),
        )
        for row in rows
    ]
    return sorted(found, key=lambda person: person.disabled)


def groups(*, tenant_id: uuid.UUID) -> list[Group]:
    """The open groups by name, their places with the people by name."""
    places = GroupMember.everywhere.select_related("user").order_by("user__name", "id")
    rows = Group.everywhere.filter(tenant_id=tenant_id, closed_at__isnull=True)
    return list(rows.order_by("name", "id").prefetch_related(Prefetch("places", queryset=places)))


def absences(*, tenant_id: uuid.UUID, user_id: uuid.UUID) -> list[Absence]:
    """What is and what will be, the next first."""
    rows = Absence.everywhere.select_related("stand_in").filter(
        tenant_id=tenant_id, user_id=user_id, cancelled_at__isnull=True, ends_at__gt=Now()
    )
    return list(rows.order_by("begins_at", "id"))


def open_invitations(*, tenant_id: uuid.UUID) -> list[Invitation]:
    """Invitations that can still be accepted, the newest first."""
    rows = Invitation.everywhere.select_related("invited_by").filter(
        tenant_id=tenant_id, accepted_at__isnull=True, withdrawn_at__isnull=True, expires_at__gt=Now()
    )
    return list(rows.order_by("-created_at"))


def tokens_of(*, tenant_id: uuid.UUID, user_id: uuid.UUID) -> list[ApiToken]:
    """A person's own tokens, the newest first."""
    rows = ApiToken.everywhere.filter(tenant_id=tenant_id, user_id=user_id)
    return list(rows.order_by("-created_at", "-id"))


def alerts(*, tenant_id: uuid.UUID, days: int = 7) -> list[AuditEntry]:
    """What the machine told administrators lately, the newest first. Only the newest part of the chain is read."""
    newest = AuditHead.objects.filter(tenant_id=tenant_id).values_list("sequence", flat=True).first() or 0
    rows = AuditEntry.everywhere.filter(
        tenant_id=tenant_id,
        sequence__gt=newest - ALERTS_AMONG,
        act=ALERT,
        at__gt=Now() - timedelta(days=days),
    )
    return list(rows.order_by("-sequence")[:ALERTS_SHOWN])


def role_words(roles: list[str]) -> list[str]:
    """The roles in the reader's language, in the order of :class:`Role`."""
    return [str(role.label) for role in Role if role.value in roles]


def scope_words(scopes: list[str]) -> list[str]:
    """The scopes in the reader's language, in the order of :class:`TokenScope`."""
    return [str(scope.label) for scope in TokenScope if scope.value in scopes]
