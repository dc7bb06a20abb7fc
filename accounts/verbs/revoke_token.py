"""End an API token: one's own, or as an administrator anybody's of the tenant."""

import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit, rights
from accounts.errors import Refused
from accounts.models import ApiToken, Role


def revoke_token(
    *, tenant_id: uuid.UUID, actor_id: uuid.UUID, token_id: uuid.UUID, channel: str = "web"
) -> None:
    """Owns its transaction. Raises ApiToken.DoesNotExist for a token that the actor cannot see."""
    with transaction.atomic(durable=True):
        rows = ApiToken.everywhere.filter(tenant_id=tenant_id)
        if not rights.has_role(user_id=actor_id, tenant_id=tenant_id, role=Role.ADMINISTRATOR):
            rows = rows.filter(user_id=actor_id)
        token: ApiToken = rows.get(pk=token_id)
        if ApiToken.everywhere.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=Now()) != 1:
            raise Refused("already_revoked", _("This token was already revoked."))
        audit.append(
            tenant_id=tenant_id,
            act="token.revoked",
            subject=("token", token.pk.hex),
            payload={"name": token.name, "prefix": token.prefix},
            actor=actor_id,
            channel=channel,
        )
