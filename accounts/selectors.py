"""What the pages of this room show. All reads; scoped to the tenant that is named."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.mfa.models import Authenticator
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from accounts.audit import ALERT
from accounts.models import ApiToken, AuditEntry, AuditHead, Invitation, Membership, Role, TokenScope

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


def people(*, tenant_id: uuid.UUID, reader_id: uuid.UUID) -> list[Person]:
    """Everybody of the tenant by name, disabled people last."""
    second = Authenticator.objects.filter(user_id=OuterRef("user_id"), type=Authenticator.Type.TOTP)
    rows = (
        Membership.everywhere.select_related("user")
        .filter(tenant_id=tenant_id)
        .annotate(second_factor=Exists(second))
        .order_by("user__name", "id")
    )
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
        )
        for row in rows
    ]
    return sorted(found, key=lambda person: person.disabled)


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
