"""Webhooks: the list, a new one, and one with its deliveries."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from outbox import reads
from outbox.forms import WebhookForm
from outbox.models import WebhookEndpoint
from outbox.verbs.change_webhook import change_webhook
from outbox.verbs.close_webhook import close_webhook
from outbox.verbs.open_webhook import open_webhook
from outbox.verbs.rotate_webhook_secret import rotate_webhook_secret
from outbox.verbs.switch_webhook import switch_webhook
from outbox.verbs.try_webhook import try_webhook


@require_safe
@member(Role.ADMINISTRATOR)
def webhooks(request: MemberRequest) -> HttpResponse:
    """All of the tenant."""
    rows = [(row, reads.health_of(row)) for row in reads.webhooks(tenant_id=request.tenant.pk)]
    dead = len(reads.dead_letters(tenant_id=request.tenant.pk))
    return render(request, "outbox/webhooks.html", {"room": "webhooks", "rows": rows, "dead_letters": dead})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def new(request: MemberRequest) -> HttpResponse:
    """The form. The secret is in the answer to the POST and nowhere else."""
    form = WebhookForm(request.POST or None)
    once = None
    made = None
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        made = attempt(
            request,
            lambda: open_webhook(tenant_id=request.tenant.pk, by=request.user.pk, **_given(typed)),
            form,
        )
        if made:
            once = _once(
                _("“%(name)s” is made. Copy its signing secret now.") % {"name": made[0].name}, made[1]
            )
    context = {"room": "webhooks", "form": form, "once": once, "made": made[0] if made else None}
    return render(request, "outbox/new.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def webhook(request: MemberRequest, endpoint_id: uuid.UUID) -> HttpResponse:
    """One, with its deliveries; POST changes it."""
    row = _found(request, endpoint_id)
    initial = {"name": row.name, "url": row.url, "events": row.events}
    form = WebhookForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        changed = attempt(
            request,
            lambda: change_webhook(
                tenant_id=request.tenant.pk, by=request.user.pk, endpoint_id=row.pk, **_given(typed)
            ),
            form,
        )
        if changed:
            messages.success(request, _("It is changed. What waits goes out by the new settings."))
            return redirect("outbox:webhook", row.pk)
    return _page(request, row, form=form)


@never_cache
@require_POST
@member(Role.ADMINISTRATOR)
def rotate(request: MemberRequest, endpoint_id: uuid.UUID) -> HttpResponse:
    """A new secret, in the answer and nowhere else."""
    row = _found(request, endpoint_id)
    secret = attempt(
        request,
        lambda: rotate_webhook_secret(tenant_id=request.tenant.pk, by=request.user.pk, endpoint_id=row.pk),
    )
    once = _once(
        _("This is the new signing secret. The one before is good for another 24 hours."), secret or ""
    )
    return _page(request, _found(request, endpoint_id), once=once if secret else None)


@require_POST
@member(Role.ADMINISTRATOR)
def switch(request: MemberRequest, endpoint_id: uuid.UUID) -> HttpResponse:
    """On or off."""
    row = _found(request, endpoint_id)
    on = request.POST.get("on") == "1"
    attempt(
        request,
        lambda: switch_webhook(tenant_id=request.tenant.pk, by=request.user.pk, endpoint_id=row.pk, on=on),
    )
    return redirect("outbox:webhook", row.pk)


@require_POST
@member(Role.ADMINISTRATOR)
def test(request: MemberRequest, endpoint_id: uuid.UUID) -> HttpResponse:
    """Queue a test event and show its delivery."""
    row = _found(request, endpoint_id)
    queued = attempt(
        request, lambda: try_webhook(tenant_id=request.tenant.pk, by=request.user.pk, endpoint_id=row.pk)
    )
    return redirect("outbox:delivery", queued.pk) if queued else redirect("outbox:webhook", row.pk)


@require_POST
@member(Role.ADMINISTRATOR)
def delete(request: MemberRequest, endpoint_id: uuid.UUID) -> HttpResponse:
    """End it."""
    row = _found(request, endpoint_id)
    close_webhook(tenant_id=request.tenant.pk, by=request.user.pk, endpoint_id=row.pk)
    messages.success(request, _("The webhook %(name)s is deleted.") % {"name": row.name})
    return redirect("outbox:webhooks")


def _page(
    request: MemberRequest,
    row: WebhookEndpoint,
    *,
    form: WebhookForm | None = None,
    once: dict[str, str] | None = None,
) -> HttpResponse:
    shown = request.GET.get("shown", "all")
    if shown not in reads.SHOWN:
        raise Http404
    rows = reads.deliveries(endpoint=row, shown=shown)
    page = Paginator(rows, reads.PAGE).get_page(request.GET.get("page"))
    initial = {"name": row.name, "url": row.url, "events": row.events}
    context = {
        "room": "webhooks",
        "row": row,
        "health": reads.health_of(row),
        "form": form or WebhookForm(initial=initial),
        "once": once,
        "tabs": _tabs(shown),
        "shown": shown,
        "page": page,
        "deliveries": [(one, reads.state_of(one)) for one in page.object_list],
    }
    return render(request, "outbox/webhook.html", context)


def _tabs(shown: str) -> list[dict[str, Any]]:
    words = {"all": _("All"), "waiting": _("Waiting"), "delivered": _("Delivered"), "dead": _("Given up")}
    return [{"label": words[name], "url": f"?shown={name}", "current": name == shown} for name in reads.SHOWN]


def _found(request: MemberRequest, endpoint_id: uuid.UUID) -> WebhookEndpoint:
    row = reads.webhook(tenant_id=request.tenant.pk, endpoint_id=endpoint_id)
    if row is None:
        raise Http404
    return row


def _given(typed: dict[str, Any]) -> dict[str, Any]:
    return {"name": typed["name"], "url": typed["url"], "events": typed["events"]}


def _once(title: str, secret: str) -> dict[str, str]:
    text = _("The receiver checks signatures with it. It is kept encrypted and never shown again.")
    return {"title": title, "text": text, "value": secret}
