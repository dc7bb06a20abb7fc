"""A new endpoint."""

import uuid
from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.errors import Refused
from outbox.models import WebhookEndpoint
from outbox.verbs import checks
from outbox.webhooks import secrets


def open_webhook(
    *,
    tenant_id: uuid.UUID,
    by: uuid.UUID,
    name: str,
    url: str,
    events: Iterable[str] = (),
    channel: str = "web",
) -> tuple[WebhookEndpoint, str]:
    """The endpoint and its signing secret, which is never shown again. Raises :class:`accounts.errors.Refused`."""
    given = {"name": checks.name(name), "url": checks.address(url), "events": checks.wanted(events)}
    secret = secrets.new()
    try:
        with transaction.atomic(durable=True):
            if WebhookEndpoint.everywhere.filter(tenant_id=tenant_id).count() >= checks.MAX_ENDPOINTS:
                raise Refused("too_many", _("There are too many webhooks. Nothing was made."))
            made = WebhookEndpoint.everywhere.create(
                tenant_id=tenant_id,
                created_by_id=by,
                secrets=[secrets.seal(tenant_id, secret)],
                **given,
            )
            checks.note("created", made, by, channel, {"url": made.url, "events": made.events})
    except IntegrityError as error:
        if "webhook_url_once" not in str(error):
            raise
        text = _("There is a webhook to this address already. Nothing was made.")
        raise Refused("url_taken", text, field="url") from error
    return made, secret
