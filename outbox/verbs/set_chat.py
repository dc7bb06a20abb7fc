"""Where a person, or the tenant, is told by chat; and nowhere any more."""

import uuid
from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import audit, ids
from accounts.errors import Refused
from accounts.models import Role
from accounts.rights import has_role
from outbox.chat import secrets, services
from outbox.kinds import KINDS
from outbox.models import ChatTarget


def set_chat(
    *,
    tenant_id: uuid.UUID,
    by: uuid.UUID,
    user_id: uuid.UUID | None,
    address: str,
    kinds: Iterable[str] = (),
    channel: str = "web",
) -> ChatTarget:
    """The chat of ``user_id``, or without one that of the tenant, is this from now on; what waits goes there. The address
    is kept sealed and never shown again. Raises :class:`accounts.errors.Refused`."""
    may_set(tenant_id, by, user_id)
    try:
        parsed = services.parse(address)
    except services.BadAddress as error:
        text = _("Nothing is sent to this address: %(why)s Nothing was changed.")
        raise Refused("bad_address", text % {"why": error}, field="address") from error
    wanted = sorted(set(kinds))
    if unknown := [one for one in wanted if one not in KINDS]:
        text = _("There is no kind of note %(name)s. Nothing was changed.")
        raise Refused("unknown_kind", text % {"name": unknown[0][:60]}, field="kinds")
    with transaction.atomic(durable=True):
        # What waits keeps its row, and goes to the new address.
        found, _made = ChatTarget.everywhere.update_or_create(
            tenant_id=tenant_id,
            user_id=user_id,
            defaults={
                "service": parsed.service,
                "hint": parsed.hint,
                "sealed": secrets.seal(tenant_id, address.strip()),
                "kinds": wanted if user_id is None else [],
                "created_by_id": by,
                "failing_since": None,
                "last_error": "",
            },
        )
        made: ChatTarget = found
        note("set", made, by, channel)
    return made


def drop_chat(
    *, tenant_id: uuid.UUID, by: uuid.UUID, user_id: uuid.UUID | None, channel: str = "web"
) -> bool:
    """Nobody is told there any more, also not of what waits. Whether there was one. Raises
    :class:`accounts.errors.Refused`."""
    may_set(tenant_id, by, user_id)
    with transaction.atomic(durable=True):
        rows = ChatTarget.everywhere.select_for_update().filter(tenant_id=tenant_id, user_id=user_id)
        found = rows.first()
        if found is None:
            return False
        kept = ChatTarget(
            pk=found.pk, tenant_id=tenant_id, user_id=user_id, service=found.service, hint=found.hint
        )
        found.delete()
        note("dropped", kept, by, channel)
    return True


def may_set(tenant_id: uuid.UUID, by: uuid.UUID, user_id: uuid.UUID | None) -> None:
    """One's own, or the tenant's as an administrator. Raises :class:`accounts.errors.Refused`."""
    mine = user_id is not None and user_id == by
    if not mine and not (
        user_id is None and has_role(user_id=by, tenant_id=tenant_id, role=Role.ADMINISTRATOR)
    ):
        raise Refused("not_allowed", _("This is set by the person, or by administrators. Nothing was done."))


def note(act: str, target: ChatTarget, by: uuid.UUID, channel: str) -> None:
    """Joins the caller's transaction, as its last statement. The address is no part of it."""
    audit.append(
        tenant_id=target.tenant_id,
        act=f"chat.{act}",
        subject=("chat", ids.public("chattarget", target.pk)),
        payload={
            "service": target.service,
            "host": target.hint,
            "of": target.user_id.hex if target.user_id else "tenant",
        },
        actor=by,
        channel=channel,
    )
