"""What every verb here checks, and the entry that each leaves."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from accounts import audit, ids
from accounts.canonical import BadInput, check_storable
from accounts.errors import Refused
from outbox.models import WebhookEndpoint
from outbox.webhooks import events
from outbox.webhooks.way import out

MAX_ENDPOINTS = 50


def address(url: str) -> str:
    """The address, trimmed. Raises :class:`accounts.errors.Refused` for one that nothing is ever sent to."""
    url = url.strip()
    if len(url) > 500 or (why := out().objection(url)):
        text = _("Nothing is sent to this address: %(why)s Nothing was changed.")
        raise Refused(
            "bad_url", text % {"why": why if len(url) <= 500 else _("it is too long.")}, field="url"
        )
    return url


def name(text: str) -> str:
    """The name, trimmed. Raises :class:`accounts.errors.Refused`."""
    text = text.strip()
    try:
        check_storable(text)
    except BadInput:
        text = ""
    if not text or len(text) > 80 or not text.isprintable():
        raise Refused(
            "bad_name",
            _("A webhook needs a name of at most 80 characters. Nothing was changed."),
            field="name",
        )
    return text


def wanted(types: Iterable[str]) -> list[str]:
    """The event types, once each. Raises :class:`accounts.errors.Refused` for one that does not exist."""
    known = {one.name for one in events.known()}
    found = sorted(set(types))
    if unknown := [one for one in found if one not in known]:
        text = _("There is no event %(name)s. Nothing was changed.")
        raise Refused("unknown_event", text % {"name": unknown[0][:60]}, field="events")
    return found


def locked(tenant_id: uuid.UUID, endpoint_id: uuid.UUID) -> WebhookEndpoint:
    """The endpoint, locked. Joins the caller's transaction. Raises ``WebhookEndpoint.DoesNotExist``."""
    found: WebhookEndpoint = WebhookEndpoint.everywhere.select_for_update().get(
        pk=endpoint_id, tenant_id=tenant_id
    )
    return found


def note(
    act: str, endpoint: WebhookEndpoint, by: uuid.UUID, channel: str, payload: Mapping[str, Any] | None = None
) -> None:
    """Joins the caller's transaction, as its last statement. No secret is ever part of it: an address may hold one in its
    path, so the entry has its host and a keyed hash of the whole."""
    kept = dict(payload or {})
    if "url" in kept:
        kept["host"], kept["url"] = urlsplit(str(kept["url"])).netloc, audit.masked(str(kept["url"]))
    audit.append(
        tenant_id=endpoint.tenant_id,
        act=f"webhook.{act}",
        subject=("webhook", ids.public("webhookendpoint", endpoint.pk)),
        payload={"name": endpoint.name, **kept},
        actor=by,
        channel=channel,
    )
