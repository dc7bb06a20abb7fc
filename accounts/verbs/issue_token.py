"""A person makes an API token for themselves."""

import uuid
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import audit, tokens
from accounts.errors import Refused
from accounts.models import ApiToken


def issue_token(
    *,
    tenant_id: uuid.UUID,
    user_id: uuid.UUID,
    name: str,
    scopes: Iterable[str],
    expires_at: datetime | None = None,
    channel: str = "web",
) -> tuple[ApiToken, str]:
    """Owns its transaction. Gives the token and its plain text, which is shown this once."""
    with transaction.atomic(durable=True):
        try:
            token, plain = tokens.issue(
                user_id=user_id, tenant_id=tenant_id, name=name.strip(), scopes=scopes, expires_at=expires_at
            )
        except tokens.NotGranted:
            raise Refused(
                "not_granted",
                _(
                    "You cannot give a token these rights. No token was made. "
                    "Choose at least one right of your own."
                ),
                field="scopes",
            ) from None
        audit.append(
            tenant_id=tenant_id,
            act="token.issued",
            subject=("token", token.pk.hex),
            payload={"name": token.name, "prefix": token.prefix, "scopes": token.scopes},
            actor=user_id,
            channel=channel,
        )
    return token, plain
