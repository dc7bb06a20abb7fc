"""What administrators are told by mail when a webhook was switched off."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.letters import Letter, page
from accounts.models import Role, User
from accounts.rights import people_with
from outbox.kinds import TROUBLE
from outbox.models import WebhookEndpoint

kinds = (TROUBLE,)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    return TROUBLE


def path(payload: Mapping[str, Any]) -> str:
    """The page of the webhook."""
    return reverse("outbox:webhook", args=[uuid.UUID(str(payload["endpoint_id"]))])


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """The administrators of its tenant, while it is off."""
    found = _off(payload)
    return people_with(tenant_id=found.tenant_id, role=Role.ADMINISTRATOR) if found else []


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """Which one, why, and where to switch it on again; None when it is on again."""
    found = _off(payload)
    if found is None:
        return None
    facts = {
        "name": found.name,
        "url": found.url,
        "why": found.disabled_why,
        "link": page("outbox:webhook", found.pk),
    }
    text = _(
        "The webhook “%(name)s” to %(url)s is switched off: it has taken nothing for too long.\n\n%(why)s\n\nWhat waits "
        "for it is kept. Put its receiver in order and switch it on again here:\n%(link)s"
    )
    return Letter(user.email, _("Webhook switched off: %(name)s") % facts, text % facts)


def _off(payload: Mapping[str, Any]) -> WebhookEndpoint | None:
    found: WebhookEndpoint | None = WebhookEndpoint.everywhere.filter(
        pk=uuid.UUID(str(payload["endpoint_id"])), active=False
    ).first()
    return found
