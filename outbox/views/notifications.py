"""How one wants to be told; for administrators, how those are told who chose nothing, and the tenant's chat."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from outbox.forms import ChatForm, NotesForm
from outbox.notify import choices, reads
from outbox.verbs.choose_notes import choose_notes, set_digest_time
from outbox.verbs.set_chat import drop_chat, set_chat
from outbox.verbs.try_chat import try_chat


@require_http_methods(["GET", "HEAD", "POST"])
@member()
def mine(request: MemberRequest) -> HttpResponse:
    """One's own choices, digest and chat."""
    return _page(request, request.user.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def everybody(request: MemberRequest) -> HttpResponse:
    """What holds for who chose nothing, and the tenant's chat."""
    return _page(request, None)


@require_POST
@member()
def chat(request: MemberRequest) -> HttpResponse:
    """Set, test or drop one's own chat."""
    return _chat(request, request.user.pk)


@require_POST
@member(Role.ADMINISTRATOR)
def chat_of_tenant(request: MemberRequest) -> HttpResponse:
    """Set, test or drop the tenant's chat."""
    return _chat(request, None)


def _page(
    request: MemberRequest, user_id: uuid.UUID | None, *, chat_form: ChatForm | None = None
) -> HttpResponse:
    tenant_id = request.tenant.pk
    administrator = Role.ADMINISTRATOR in request.membership.roles
    table = choices.table(tenant_id=tenant_id, user_id=user_id, administrator=administrator)
    digest = reads.digest_time(tenant_id=tenant_id, user_id=user_id) if user_id else None
    typed = request.POST if request.method == "POST" and chat_form is None else None
    form = NotesForm(typed, table=table, digest=digest)
    if typed is not None and form.is_valid() and _save(request, user_id, form):
        messages.success(request, _("Saved."))
        return redirect(request.path)
    context: dict[str, Any] = {
        "room": "notifications" if user_id else "notifications_of_tenant",
        "of_tenant": user_id is None,
        "form": form,
        "chat": reads.chat(tenant_id=tenant_id, user_id=user_id),
        "chat_form": chat_form or ChatForm(of_tenant=user_id is None),
        "chat_url": "outbox:chat" if user_id else "outbox:chat_of_tenant",
    }
    return render(request, "outbox/notifications.html", context)


def _save(request: MemberRequest, user_id: uuid.UUID | None, form: NotesForm) -> bool:
    def save() -> bool:
        if user_id:
            given = form.cleaned_data
            set_digest_time(
                tenant_id=request.tenant.pk, user_id=user_id, every=given["every"], hour=given["hour"]
            )
        choose_notes(tenant_id=request.tenant.pk, by=request.user.pk, user_id=user_id, choices=form.chosen())
        return True

    return bool(attempt(request, save, form))


def _chat(request: MemberRequest, user_id: uuid.UUID | None) -> HttpResponse:
    who: dict[str, Any] = {"tenant_id": request.tenant.pk, "by": request.user.pk, "user_id": user_id}
    act = request.POST.get("act", "set")
    if act == "set":
        form = ChatForm(request.POST, of_tenant=user_id is None)
        made = None
        if form.is_valid():
            made = attempt(request, lambda: set_chat(**who, **form.cleaned_data), form)
        if made is None:
            return _page(request, user_id, chat_form=form)
        messages.success(
            request,
            _("%(service)s is set. Send a test to see whether it arrives.") % {"service": made.service},
        )
    elif act == "test":
        if attempt(request, lambda: try_chat(**who)):
            messages.success(request, _("A test is on its way. If it does not arrive, this page says why."))
    elif attempt(request, lambda: drop_chat(**who)):
        messages.success(request, _("Nobody is told there any more."))
    return redirect("outbox:notifications" if user_id else "outbox:notifications_of_tenant")
