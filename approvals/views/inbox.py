"""The list of what waits for a person."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import member
from approvals import inbox, present
from approvals.views.shared import asked_of, plain

#: A list longer than this is worked off from its top.
MOST_SHOWN = 2_000


@require_safe
@member()
def inbox_page(request: HttpRequest) -> HttpResponse:
    """The list of one tab, beside nothing yet; the list alone for a live page."""
    asked = asked_of(request)
    tab = request.GET.get("tab", "mine")
    if tab not in inbox.TABS:
        raise Http404
    found = present.listing(
        user_id=asked.user.pk, tenant_id=asked.tenant.pk, tab=tab, limit=_limit(request.GET.get("shown", ""))
    )
    live = {"url": "/ws/inbox/", "seq": 0, "fragment_url": request.get_full_path()}
    context = {**plain(found), "live": live, "heading": "h1"}
    if request.headers.get("X-Live"):
        return render(request, "approvals/partials/list.html", context)
    return render(request, "approvals/inbox.html", context)


def _limit(text: str) -> int:
    """How many rows are asked for; never fewer than a page shows by itself, and not without end."""
    asked = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else inbox.SHOWN
    return min(max(asked, inbox.SHOWN), MOST_SHOWN)
