"""The editor of a contract: the draft with what it would mean, and throwing it away."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import MemberRequest, member
from accounts.errors import Refused
from accounts.models import Role
from tools import drafts
from tools.present import changes as differences
from tools.present.consequences import last_example
from tools.views.register import one
from tools.views.sheet import Sheet, frame, judged, sheet_of

LONGEST_ADDRESS = 4000


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def tool(request: MemberRequest, name: str) -> HttpResponse:
    """The draft, or what the next one would begin with. POST saves it; nothing comes into force here. When somebody else
    saved meanwhile: 409, with what was typed and its difference to theirs."""
    found = one(name)
    sheet = sheet_of(found, request.POST or None)
    more: dict[str, Any] = {}
    if request.method == "POST":
        if sheet.valid():
            try:
                saved = drafts.save(
                    tool_id=found.pk,
                    by=request.user.pk,
                    declared=sheet.declared(),
                    seen_before=request.POST.get("seen", ""),
                )
            except Refused as refused:
                sheet.contract.add_error(None, str(refused.text))
                more = _clash(sheet)
            else:
                if "review" in request.POST:
                    return redirect(_review(sheet, request.POST.get("example", "")))
                messages.success(request, _("Draft %s is saved. It is not in force.") % saved.version)
                return redirect("tools:tool", name)
        else:
            messages.error(request, _("The draft was not saved: some entries cannot be used, see below."))
    typed = request.POST.get("example")
    example = last_example(sheet.base) if typed is None else typed
    context = {
        **frame(sheet, "draft"),
        "example": example,
        **judged(sheet, example, typed is not None),
        **more,
    }
    return render(request, "tools/tool.html", context, status=409 if more else 200)


@require_POST
@member(Role.ADMINISTRATOR)
def consequences(request: MemberRequest, name: str) -> HttpResponse:
    """What the form as it is typed would mean; stores nothing."""
    sheet = sheet_of(one(name), request.POST)
    return render(
        request, "tools/partials/consequences.html", judged(sheet, request.POST.get("example", ""), True)
    )


@require_POST
@member(Role.ADMINISTRATOR)
def discard(request: MemberRequest, name: str) -> HttpResponse:
    """Throw the draft away."""
    if drafts.discard(tool_id=one(name).pk, by=request.user.pk):
        messages.success(request, _("The draft is discarded. What is in force stays as it is."))
    return redirect("tools:tool", name)


def _review(sheet: Sheet, example: str) -> str:
    """The address of the review, with the example that was typed; without one that is too long for an address."""
    page, typed = reverse("tools:changes", args=[sheet.tool.name]), "\n".join(example.splitlines())
    asked = "" if typed in ("", last_example(sheet.base)) else f"?{urlencode({'example': typed})}"
    return page + asked if len(asked) <= LONGEST_ADDRESS else page


def _clash(sheet: Sheet) -> dict[str, Any]:
    """Theirs and mine, field by field. The page shows what is stored now as seen: the next save is made knowing it."""
    mine = drafts.copied(sheet.base)
    for field, value in sheet.declared().items():
        setattr(mine, field, value)
    theirs = sheet.draft or sheet.live
    who = theirs.created_by.name if theirs and theirs.created_by else ""
    return {"clash": differences.changes(theirs, mine), "clash_by": who}
