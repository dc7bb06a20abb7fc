"""Notes in the page of one person; and, for administrators, what was told to whom and what failed."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from outbox.notify import reads
from outbox.verbs.read_notes import read_notes
from outbox.verbs.resend_note import resend_note


@require_safe
@member()
def notes(request: MemberRequest) -> HttpResponse:
    """One's own, the newest first."""
    rows = reads.mine(user_id=request.user.pk, tenant_id=request.tenant.pk)
    page = Paginator(rows, reads.PAGE).get_page(request.GET.get("page"))
    return render(request, "outbox/notes.html", {"page": page, "rows": page.object_list})


@require_POST
@member()
def open_note(request: MemberRequest, note_id: uuid.UUID) -> HttpResponse:
    """Count it as read and go where it leads."""
    row = reads.mine(user_id=request.user.pk, tenant_id=request.tenant.pk).filter(pk=note_id).first()
    if row is None:
        raise Http404
    read_notes(tenant_id=request.tenant.pk, user_id=request.user.pk, ids=[row.pk])
    return redirect(row.link or "notes:list")


@require_POST
@member()
def read_all(request: MemberRequest) -> HttpResponse:
    """All are read."""
    read_notes(tenant_id=request.tenant.pk, user_id=request.user.pk)
    return redirect("notes:list")


@require_safe
@member(Role.ADMINISTRATOR)
def of_tenant(request: MemberRequest) -> HttpResponse:
    """Everybody's by mail and chat, those that failed first of all."""
    shown = request.GET.get("shown", "failed")
    if shown not in reads.SHOWN:
        raise Http404
    rows = reads.of_tenant(tenant_id=request.tenant.pk, shown=shown)
    page = Paginator(rows, reads.PAGE).get_page(request.GET.get("page"))
    words = {"failed": _("Failed"), "waiting": _("Waiting"), "all": _("All")}
    context = {
        "room": "notes",
        "rows": [(row, reads.state_of(row)) for row in page.object_list],
        "page": page,
        "shown": shown,
        "tabs": [
            {"label": words[one], "url": f"?shown={one}", "current": one == shown} for one in reads.SHOWN
        ],
    }
    return render(request, "outbox/notes_of_tenant.html", context)


@require_POST
@member(Role.ADMINISTRATOR)
def again(request: MemberRequest, note_id: uuid.UUID) -> HttpResponse:
    """Send one that failed once more."""
    done = attempt(
        request, lambda: resend_note(tenant_id=request.tenant.pk, by=request.user.pk, note_id=note_id)
    )
    if done:
        messages.success(request, _("It goes out again."))
    return redirect("outbox:notes_of_tenant")
