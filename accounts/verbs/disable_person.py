"""End a person's access to a tenant, at once and without forgetting them."""

import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.models import ApiToken, Membership
from accounts.verbs import checks


def disable_person(
    *, tenant_id: uuid.UUID, actor_id: uuid.UUID, membership_id: uuid.UUID, channel: str = "web"
) -> None:
    """Owns its transaction. Takes effect at the person's next request; their tokens are
    revoked. Raises Membership.DoesNotExist for
    an id of another tenant."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        member = checks.person(membership_id=membership_id, tenant_id=tenant_id)
        won = Membership.everywhere.filter(pk=member.pk, disabled_at__isnull=True).update(disabled_at=Now())
        if won != 1:
            raise Refused("already_disabled", _("This person is already disabled. Nothing was changed."))
        checks.someone_administers(tenant_id=tenant_id)
        ApiToken.everywhere.filter(
            tenant_id=tenant_id, user_id=member.user_id, revoked_at__isnull=True
        ).update(revoked_at=Now())
        audit.append(
            tenant_id=tenant_id,
            act="membership.disabled",
            subject=("user", member.user_id.hex),
            payload={"roles": list(member.roles)},
            actor=actor_id,
            channel=channel,
        )
