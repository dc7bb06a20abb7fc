"""An administrator sends a note that was given up once more."""

import uuid

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import audit, ids
from accounts.errors import Refused
from accounts.models import Role
from accounts.rights import has_role
from outbox.append import append_many
from outbox.models import Notification
from outbox.notify.spread import carried


def resend_note(
    *, tenant_id: uuid.UUID, by: uuid.UUID, note_id: uuid.UUID, channel: str = "web"
) -> Notification:
    """A new set of attempts for a note that failed; it is written anew, and not sent when it does not stand any more. Raises
    :class:`accounts.errors.Refused` and ``Notification.DoesNotExist``."""
    if not has_role(user_id=by, tenant_id=tenant_id, role=Role.ADMINISTRATOR):
        raise Refused("not_allowed", _("Only administrators may do this. Nothing was done."))
    with transaction.atomic(durable=True):
        found: Notification = Notification.everywhere.select_for_update(of=("self",)).get(
            pk=note_id, tenant_id=tenant_id
        )
        rows = Notification.everywhere.filter(pk=found.pk, status=Notification.Status.FAILED)
        won = rows.update(status=Notification.Status.PENDING, attempts=0, last_error="", digest=None)
        if won != 1:
            raise Refused("not_failed", _("It did not fail, or is on its way again. Nothing was changed."))
        append_many([carried(found)])
        audit.append(
            tenant_id=tenant_id,
            act="note.resent",
            subject=("note", ids.public("notification", found.pk)),
            payload={"channel": found.channel, "kind": found.kind},
            actor=by,
            channel=channel,
        )
    found.refresh_from_db()
    return found
