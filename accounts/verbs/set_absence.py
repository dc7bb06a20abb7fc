"""Say that a person is away, and who stands in for them."""

import uuid
from datetime import datetime

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit, rights
from accounts.errors import Refused
from accounts.models import Absence, Role, Tenant

LONGEST_NOTE = 200


def set_absence(
    *,
    tenant_id: uuid.UUID,
    actor_id: uuid.UUID,
    user_id: uuid.UUID,
    begins_at: datetime,
    ends_at: datetime,
    stand_in_id: uuid.UUID | None = None,
    note: str = "",
    channel: str = "web",
) -> Absence:
    """Everybody says so of themselves, administrators of anybody. Standing in gives no right: it lets somebody who may
    decide anyway answer what was handed to the one who is away.

    Owns its transaction. Raises :class:`accounts.errors.Refused`.
    """
    with transaction.atomic(durable=True):
        allowed(tenant_id=tenant_id, actor_id=actor_id, user_id=user_id)
        if ends_at <= begins_at:
            raise Refused("ends_first", _("It ends before it begins. Nothing was changed."), field="ends_at")
        if stand_in_id == user_id:
            raise Refused("yourself", _("Somebody else has to stand in."), field="stand_in")
        if stand_in_id and rights.membership(user_id=stand_in_id, tenant_id=tenant_id) is None:
            raise Refused("not_a_member", _("Only an active member can stand in."), field="stand_in")
        others = Absence.everywhere.filter(tenant_id=tenant_id, user_id=user_id, cancelled_at__isnull=True)
        if others.filter(begins_at__lt=ends_at, ends_at__gt=begins_at).exists():
            text = _("There is an absence in that time already. End that one first.")
            raise Refused("overlaps", text, field="begins_at")
        made: Absence = Absence.everywhere.create(
            tenant_id=tenant_id,
            user_id=user_id,
            begins_at=begins_at,
            ends_at=ends_at,
            stand_in_id=stand_in_id,
            note=" ".join(note.split())[:LONGEST_NOTE],
        )
        if not Absence.everywhere.filter(pk=made.pk, ends_at__gt=Now()).exists():
            raise Refused("over", _("This is over already. Nothing was changed."), field="ends_at")
        audit.append(
            tenant_id=tenant_id,
            act="absence.set",
            subject=("user", user_id.hex),
            payload={
                "begins": begins_at.isoformat(),
                "ends": ends_at.isoformat(),
                "stand_in": stand_in_id.hex if stand_in_id else None,
            },
            actor=actor_id,
            channel=channel,
        )
    return made


def allowed(*, tenant_id: uuid.UUID, actor_id: uuid.UUID, user_id: uuid.UUID) -> None:
    """Lock the tenant, so that changes of its people queue; Refused unless the actor is that person, or administers them.
    Joins the caller's transaction."""
    Tenant.objects.select_for_update().get(pk=tenant_id)
    actor = rights.membership(user_id=actor_id, tenant_id=tenant_id)
    if actor is None or (actor_id != user_id and Role.ADMINISTRATOR not in actor.roles):
        raise Refused("not_administrator", _("Only an administrator may do this. Nothing was changed."))
    if rights.membership(user_id=user_id, tenant_id=tenant_id) is None:
        raise Refused("not_a_member", _("This person is no active member. Nothing was changed."))
