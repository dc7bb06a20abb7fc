"""Add a person directly, with a first password that the administrator hands over."""

import uuid
from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.models import Membership, User
from accounts.verbs import checks


def add_person(
    *,
    tenant_id: uuid.UUID,
    actor_id: uuid.UUID,
    email: str,
    name: str,
    roles: Iterable[str],
    password: str,
    channel: str = "web",
) -> Membership:
    """Owns its transaction. An address that already has an account is refused: nobody is put into a tenant,
    or given a password, behind their back; they can be invited."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        wanted = checks.roles(roles)
        if User.objects.filter(email__iexact=email.strip()).exists():
            raise Refused(
                "has_account",
                _("This address already has an account. Nobody was added. Invite the person instead."),
                field="email",
            )
        user = User.objects.create_user(email.strip(), password, name=name.strip())
        member: Membership = Membership.everywhere.create(tenant_id=tenant_id, user=user, roles=wanted)
        audit.append(
            tenant_id=tenant_id,
            act="membership.added",
            subject=("user", user.pk.hex),
            payload={"email": user.email, "roles": wanted},
            actor=actor_id,
            channel=channel,
        )
    return member
