"""An administrator has a link sent with which a person chooses a new password."""

import uuid

from django.db import transaction

from accounts import audit, letters
from accounts.verbs import checks


def send_password_link(
    *, tenant_id: uuid.UUID, actor_id: uuid.UUID, membership_id: uuid.UUID, channel: str = "web"
) -> None:
    """Owns its transaction. The link goes to the person alone; the old password works until it is used."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        member = checks.person(membership_id=membership_id, tenant_id=tenant_id)
        letters.ask(kind="password-reset", tenant_id=tenant_id, payload={"user_id": member.user_id})
        audit.append(
            tenant_id=tenant_id,
            act="password.link_sent",
            subject=("user", member.user_id.hex),
            actor=actor_id,
            channel=channel,
        )
