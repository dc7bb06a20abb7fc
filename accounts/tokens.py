"""API tokens: shown once, kept as a digest, limited to scopes that name what they may do."""

import hashlib
import secrets
import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Now

from accounts import rights
from accounts.models import ApiToken, Role, TokenScope

MARK = "cst_"
PREFIX_LENGTH = 12
NOTE_USE_EVERY = timedelta(minutes=1)


class NotGranted(Exception):
    """The token was not made: the person may not hand out one of the scopes asked for."""


def issue(
    *,
    user_id: uuid.UUID,
    tenant_id: uuid.UUID,
    name: str,
    scopes: Iterable[TokenScope | str],
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Make a token and give it with its plain text, which nobody can read again. Joins the caller's
    transaction.

    Raises :class:`NotGranted` when the person is no member, names no or unknown scopes, asks for ``decide`` without
    being an approver, or for ``decide_high_risk`` without ``decide``.
    """
    wanted = sorted({str(scope) for scope in scopes})
    if not wanted or not set(wanted) <= set(TokenScope.values):
        raise NotGranted("A token needs at least one of the known scopes.")
    if rights.membership(user_id=user_id, tenant_id=tenant_id) is None:
        raise NotGranted("The person is no active member of this tenant.")
    if TokenScope.DECIDE in wanted and not rights.has_role(
        user_id=user_id, tenant_id=tenant_id, role=Role.APPROVER
    ):
        raise NotGranted("Only an approver can make a token that decides.")
    if TokenScope.DECIDE_HIGH_RISK in wanted and TokenScope.DECIDE not in wanted:
        raise NotGranted("A token that decides on high risk is one that decides: ask for both.")
    plain = MARK + secrets.token_urlsafe(32)
    token = ApiToken.everywhere.create(
        tenant_id=tenant_id,
        user_id=user_id,
        name=name,
        prefix=plain[:PREFIX_LENGTH],
        digest=_digest(plain),
        scopes=wanted,
        expires_at=expires_at,
    )
    return token, plain


def authenticate(plain: str) -> ApiToken | None:
    """The live token behind a plain text, or None: unknown, revoked, expired, or its person lost access."""
    token: ApiToken | None = (
        ApiToken.everywhere.select_related("user", "tenant")
        .filter(
            Q(expires_at__isnull=True) | Q(expires_at__gt=Now()),
            digest=_digest(plain),
            revoked_at__isnull=True,
        )
        .first()
    )
    if token is None or rights.membership(user_id=token.user_id, tenant_id=token.tenant_id) is None:
        return None
    # Once a minute is enough to answer "is it still used?", and spares a write per request.
    ApiToken.everywhere.filter(
        Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - NOTE_USE_EVERY), pk=token.pk
    ).update(last_used_at=Now())
    return token


def from_header(header: str) -> str | None:
    """The token in an ``Authorization: Bearer …`` header; None when the header is of another kind."""
    scheme, _, rest = header.strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else None


def _digest(plain: str) -> bytes:
    return hashlib.sha256(plain.encode(errors="backslashreplace")).digest()
