"""The audit chain, read only, for administrators."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts import selectors
from accounts.access import MemberRequest, member
from accounts.models import Role


@require_safe
@member(Role.ADMINISTRATOR)
def audit(request: MemberRequest) -> HttpResponse:
    """A page of entries, the newest first."""
    asked = request.GET.get("before", "")
    if asked and not (asked.isdecimal() and len(asked) < 19):
        raise Http404
    rows = selectors.audit_page(tenant_id=request.tenant.pk, before=int(asked) if asked else None)
    more = rows[-1].sequence if len(rows) == selectors.AUDIT_PAGE else None
    attention = [] if asked else selectors.alerts(tenant_id=request.tenant.pk)
    context = {"room": "audit", "entries": rows, "before": more, "alerts": attention}
    return render(request, "accounts/audit.html", context)
