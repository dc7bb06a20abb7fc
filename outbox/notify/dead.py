"""What administrators are told when a message was given up: ``message.dead``."""

import uuid
from collections.abc import Mapping
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.letters import Letter, page
from accounts.models import Role, User
from accounts.rights import people_with
from outbox.kinds import TROUBLE
from outbox.models import Message
from outbox.relay import DEAD

TOPIC: Final = DEAD
kinds = (TROUBLE,)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    return TROUBLE


def path(payload: Mapping[str, Any]) -> str:
    """The page of dead letters."""
    return reverse("outbox:dead_letters")


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """The administrators of its tenant, while it is one."""
    found = _dead(payload)
    if found is None or found.tenant_id is None:
        return []
    return people_with(tenant_id=found.tenant_id, role=Role.ADMINISTRATOR)


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """Which topic, why, and where to send it again; None when somebody did."""
    found = _dead(payload)
    if found is None:
        return None
    facts = {"topic": found.topic, "why": found.last_error[:300], "link": page("outbox:dead_letters")}
    text = _(
        "A message could not be told and was given up: %(topic)s\n\n%(why)s\n\nWhat it speaks of has happened; who should "
        "have heard of it has not. Put the cause in order and send it again here:\n%(link)s"
    )
    return Letter(user.email, _("Dead letter: %(topic)s") % facts, text % facts)


def _dead(payload: Mapping[str, Any]) -> Message | None:
    pk = uuid.UUID(str(payload["message_id"]))
    found: Message | None = Message.objects.filter(pk=pk, dead_at__isnull=False).first()
    return found
