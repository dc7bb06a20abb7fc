"""Say who gets what nobody else can decide."""

import uuid

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import audit, rights
from accounts.errors import Refused
from accounts.models import Tenant
from accounts.verbs import checks


def set_escalation_owner(
    *,
    tenant_id: uuid.UUID,
    owner_id: uuid.UUID | None,
    actor_id: uuid.UUID | None,
    channel: str = "web",
) -> None:
    """Name an active member, or nobody: then every administrator is asked. Without an actor it is an act of the operator.
    Owns its transaction. Raises :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        if actor_id is None:
            Tenant.objects.select_for_update().get(pk=tenant_id)
        else:
            checks.administrator(user_id=actor_id, tenant_id=tenant_id)
        if owner_id is not None and rights.membership(user_id=owner_id, tenant_id=tenant_id) is None:
            text = _("Only an active member can be asked when nobody else can decide. Nothing was changed.")
            raise Refused("not_a_member", text, field="owner")
        won = (
            Tenant.objects.filter(pk=tenant_id)
            .exclude(escalation_owner_id=owner_id)
            .update(escalation_owner_id=owner_id)
            if owner_id
            else Tenant.objects.filter(pk=tenant_id, escalation_owner__isnull=False).update(
                escalation_owner=None
            )
        )
        if won:
            audit.append(
                tenant_id=tenant_id,
                act="tenant.escalation_owner_set",
                subject=("tenant", tenant_id.hex),
                payload={"owner": owner_id.hex if owner_id else None},
                actor=actor_id,
                actor_kind="person" if actor_id else "operator",
                channel=channel,
            )
