"""One delivery with its attempts, and messages that were given up."""

import json
import uuid

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from outbox import reads
from outbox.models import WebhookDelivery
from outbox.verbs.redeliver import redeliver
from outbox.verbs.send_again import send_again
from outbox.webhooks import events


@require_safe
@member(Role.ADMINISTRATOR)
def delivery(request: MemberRequest, delivery_id: uuid.UUID) -> HttpResponse:
    """What was sent, how often, and what the far side said."""
    row = _found(request, delivery_id)
    body = json.dumps(events.document(row.event_id, row.type, row.body), indent=2, ensure_ascii=False)
    context = {
        "room": "webhooks",
        "row": row,
        "state": reads.state_of(row),
        "body": body,
        "event": events.public_id(row.event_id),
        "attempts": reads.attempts(row),
    }
    return render(request, "outbox/delivery.html", context)


@require_POST
@member(Role.ADMINISTRATOR)
def again(request: MemberRequest, delivery_id: uuid.UUID) -> HttpResponse:
    """Send it once more."""
    row = _found(request, delivery_id)
    done = attempt(
        request, lambda: send_again(tenant_id=request.tenant.pk, by=request.user.pk, delivery_id=row.pk)
    )
    if done:
        messages.success(request, _("It goes out again, under the same id."))
    return redirect("outbox:delivery", row.pk)


@require_safe
@member(Role.ADMINISTRATOR)
def dead_letters(request: MemberRequest) -> HttpResponse:
    """Messages that used up their attempts."""
    rows = reads.dead_letters(tenant_id=request.tenant.pk)
    return render(request, "outbox/dead_letters.html", {"room": "webhooks", "rows": rows})


@require_POST
@member(Role.ADMINISTRATOR)
def redeliver_message(request: MemberRequest, message_id: uuid.UUID) -> HttpResponse:
    """Give one a new set of attempts."""
    if not redeliver(message_id=message_id, tenant_id=request.tenant.pk, by=request.user.pk):
        raise Http404
    messages.success(request, _("It is told again."))
    return redirect("outbox:dead_letters")


def _found(request: MemberRequest, delivery_id: uuid.UUID) -> WebhookDelivery:
    row = reads.delivery(tenant_id=request.tenant.pk, delivery_id=delivery_id)
    if row is None:
        raise Http404
    return row
