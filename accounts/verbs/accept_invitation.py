"""Accept an invitation: a new person chooses name and password, a known one signs in and says yes."""

import hashlib
import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.models import Invitation, Membership, User


def open_invitation(secret: str) -> Invitation | None:
    """The invitation behind a link while it can be accepted, else None. Changes nothing."""
    digest = hashlib.sha256(secret.encode(errors="backslashreplace")).digest()
    found: Invitation | None = (
        Invitation.everywhere.select_related("tenant", "invited_by")
        .filter(digest=digest, accepted_at__isnull=True, withdrawn_at__isnull=True, expires_at__gt=Now())
        .filter(tenant__active=True)
        .first()
    )
    return found


def accept_invitation(
    *,
    secret: str,
    name: str = "",
    password: str = "",
    user_id: uuid.UUID | None = None,
    channel: str = "web",
) -> User:
    """Owns its transaction. With ``user_id`` the signed-in person joins, and only if the invitation is to
    their address; without it a new account is made, and an address that has one already must sign in first:
    a link in a mail never sets the password of an existing account."""
    with transaction.atomic(durable=True):
        invitation = open_invitation(secret)
        won = invitation and Invitation.everywhere.filter(
            pk=invitation.pk, accepted_at__isnull=True, withdrawn_at__isnull=True, expires_at__gt=Now()
        ).update(accepted_at=Now())
        if invitation is None or won != 1:
            raise Refused("not_open", _("This invitation is no longer good. Ask for a new one."))
        user = _known(user_id, invitation) if user_id else _new(invitation, name, password)
        Membership.everywhere.create(tenant_id=invitation.tenant_id, user=user, roles=invitation.roles)
        audit.append(
            tenant_id=invitation.tenant_id,
            act="invitation.accepted",
            subject=("user", user.pk.hex),
            payload={"email": user.email, "roles": invitation.roles, "invitation": invitation.pk.hex},
            actor=user,
            channel=channel,
        )
    return user


def _known(user_id: uuid.UUID, invitation: Invitation) -> User:
    user = User.objects.get(pk=user_id, is_active=True)
    if user.email.lower() != invitation.email.lower():
        raise Refused("other_person", _("This invitation is for another address. Sign out first."))
    return user


def _new(invitation: Invitation, name: str, password: str) -> User:
    if User.objects.filter(email__iexact=invitation.email).exists():
        raise Refused("has_account", _("You already have an account. Sign in to accept the invitation."))
    return User.objects.create_user(invitation.email, password, name=name.strip())
