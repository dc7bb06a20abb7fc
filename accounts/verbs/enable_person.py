"""Give a person back the access to a tenant that was ended."""

import uuid

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.models import Membership
from accounts.verbs import checks


def enable_person(
    *, tenant_id: uuid.UUID, actor_id: uuid.UUID, membership_id: uuid.UUID, channel: str = "web"
) -> None:
    """Owns its transaction. Takes effect at the person's next request. Raises Membership.DoesNotExist for
    an id of another tenant."""
    with transaction.atomic(durable=True):
        checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        member = checks.person(membership_id=membership_id, tenant_id=tenant_id)
        won = Membership.everywhere.filter(pk=member.pk, disabled_at__isnull=False).update(disabled_at=None)
        if won != 1:
            raise Refused("not_disabled", _("This person is not disabled. Nothing was changed."))
        audit.append(
            tenant_id=tenant_id,
            act="membership.enabled",
            subject=("user", member.user_id.hex),
            payload={"roles": list(member.roles)},
            actor=actor_id,
            channel=channel,
        )
