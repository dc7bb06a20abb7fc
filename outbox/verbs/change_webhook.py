"""Another name, address or choice of events; on and off."""

import uuid
from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.errors import Refused
from outbox.models import WebhookEndpoint
from outbox.verbs import checks


def change_webhook(
    *,
    tenant_id: uuid.UUID,
    by: uuid.UUID,
    endpoint_id: uuid.UUID,
    name: str | None = None,
    url: str | None = None,
    events: Iterable[str] | None = None,
    channel: str = "web",
) -> WebhookEndpoint:
    """The endpoint as it is now; what is None stays. What waits for it goes to the new address. Raises
    :class:`accounts.errors.Refused` and ``WebhookEndpoint.DoesNotExist``."""
    given: dict[str, object] = {}
    if name is not None:
        given["name"] = checks.name(name)
    if url is not None:
        given["url"] = checks.address(url)
    if events is not None:
        given["events"] = checks.wanted(events)
    try:
        with transaction.atomic(durable=True):
            endpoint = checks.locked(tenant_id, endpoint_id)
            changed = {field: value for field, value in given.items() if getattr(endpoint, field) != value}
            if changed:
                WebhookEndpoint.everywhere.filter(pk=endpoint.pk).update(**changed)
                endpoint.refresh_from_db()
                checks.note("changed", endpoint, by, channel, changed)
    except IntegrityError as error:
        if "webhook_url_once" not in str(error):
            raise
        text = _("There is a webhook to this address already. Nothing was changed.")
        raise Refused("url_taken", text, field="url") from error
    return endpoint
