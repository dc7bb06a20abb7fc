"""Take an open invitation back."""

import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.models import Invitation
from accounts.verbs import checks


def withdraw_invitation(
    *, tenant_id: uuid.UUID, actor_id: uuid.UUID, invitation_id: uuid.UUID, channel: str = "web"
) -> None:
    """Owns its transaction. Raises Invitation.DoesNotExist for an id of another tenant."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        invitation: Invitation = Invitation.everywhere.get(pk=invitation_id, tenant_id=tenant_id)
        won = Invitation.everywhere.filter(
            pk=invitation_id, accepted_at__isnull=True, withdrawn_at__isnull=True
        ).update(withdrawn_at=Now())
        if won != 1:
            raise Refused(
                "not_open", _("This invitation was already accepted or withdrawn. Nothing was changed.")
            )
        audit.append(
            tenant_id=tenant_id,
            act="invitation.withdrawn",
            subject=("invitation", invitation_id.hex),
            payload={"email": invitation.email},
            actor=actor_id,
            channel=channel,
        )
