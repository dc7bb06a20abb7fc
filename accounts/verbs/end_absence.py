"""A person is back, or will not be away after all."""

import uuid

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from accounts.models import Absence
from accounts.verbs.set_absence import allowed


def end_absence(
    *, tenant_id: uuid.UUID, actor_id: uuid.UUID, absence_id: uuid.UUID, channel: str = "web"
) -> Absence:
    """It counts no more, from this instant. What a stand-in signed meanwhile keeps its right. Owns its transaction. Raises
    :class:`accounts.errors.Refused`, and Absence.DoesNotExist for an id of another tenant."""
    with transaction.atomic(durable=True):
        found: Absence = Absence.everywhere.get(pk=absence_id, tenant_id=tenant_id)
        allowed(tenant_id=tenant_id, actor_id=actor_id, user_id=found.user_id)
        won = Absence.everywhere.filter(pk=absence_id, cancelled_at__isnull=True).update(cancelled_at=Now())
        if won != 1:
            raise Refused("ended", _("It has been ended already. Nothing was changed."))
        audit.append(
            tenant_id=tenant_id,
            act="absence.ended",
            subject=("user", found.user_id.hex),
            payload={"begins": found.begins_at.isoformat(), "ends": found.ends_at.isoformat()},
            actor=actor_id,
            channel=channel,
        )
    return found
