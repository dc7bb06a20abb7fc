"""Invite a person by mail."""

import hashlib
import uuid
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _

from accounts import audit, letters
from accounts.errors import Refused
from accounts.ids import new_id
from accounts.models import Invitation, Membership
from accounts.verbs import checks

GOOD_FOR = timedelta(days=7)


def invite(
    *,
    tenant_id: uuid.UUID,
    actor_id: uuid.UUID,
    email: str,
    roles: Iterable[str],
    name: str = "",
    channel: str = "web",
) -> Invitation:
    """Owns its transaction. An older open invitation to the same address is withdrawn, so one link is good
    at a time."""
    address = email.strip().lower()
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        wanted = checks.roles(roles)
        if Membership.everywhere.filter(tenant_id=tenant_id, user__email__iexact=address).exists():
            raise Refused(
                "is_member", _("This person already belongs here. Nobody was invited."), field="email"
            )
        Invitation.everywhere.annotate(address=Lower("email")).filter(
            tenant_id=tenant_id, address=address, accepted_at__isnull=True, withdrawn_at__isnull=True
        ).update(withdrawn_at=Now())
        invitation_id = new_id()
        invitation: Invitation = Invitation.everywhere.create(
            id=invitation_id,
            tenant_id=tenant_id,
            email=address,
            name=name.strip(),
            roles=wanted,
            digest=hashlib.sha256(letters.invitation_secret(invitation_id).encode()).digest(),
            invited_by_id=actor_id,
            expires_at=Now() + GOOD_FOR,
        )
        letters.ask(kind="invitation", tenant_id=tenant_id, payload={"invitation_id": invitation_id})
        audit.append(
            tenant_id=tenant_id,
            act="invitation.sent",
            subject=("invitation", invitation_id.hex),
            payload={"email": address, "roles": wanted},
            actor=actor_id,
            channel=channel,
        )
    return invitation
