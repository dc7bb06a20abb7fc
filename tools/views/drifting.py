"""A tool that its server describes otherwise than was confirmed: what changed, and the administrator's answer."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from tools import drafts, drifts, forms
from tools.mcp.definition import PARTS
from tools.models import Tool
from tools.present.changes import Change
from tools.views.register import one


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def changed(request: MemberRequest, name: str) -> HttpResponse:
    """The difference; POST takes it over as a draft, or keeps the tool stopped. Nothing comes into force here."""
    tool = one(name)
    if tool.drifted is None:
        return redirect("tools:tool", name)
    live, draft = drafts.current(tool=tool)
    form = forms.ReasonForm(request.POST if "keep" in request.POST else None)
    if request.method == "POST" and "take_over" in request.POST:
        seen = request.POST.get("seen", "")
        saved = attempt(
            request,
            lambda: drifts.take_over(tool_id=tool.pk, by=request.user.pk, seen_before=seen),
            form,
        )
        if saved:
            messages.success(
                request, _("Draft %s says what the server says now. It is not in force.") % saved.version
            )
            return redirect("tools:changes", name)
    elif request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        attempt(
            request,
            lambda: drifts.keep_stopped(tool_id=tool.pk, by=request.user.pk, reason=reason),
            form,
        )
        messages.success(request, _("%s stays stopped, in your name.") % tool.title)
        return redirect("tools:tools")
    context = {
        "tool": tool,
        "live": live,
        "draft": draft,
        "gone": tool.drifted["found"] is None,
        "rows": rows(tool, drifts.pinned_by(live)),
        "seen": drafts.seen(draft or live),
        "form": form,
    }
    return render(request, "tools/changed.html", context)


def rows(tool: Tool, pinned: dict[str, Any]) -> list[Change]:
    """The parts that differ, as text."""
    found = (tool.drifted or {}).get("found") or {}
    return [
        Change(words(part), _text(pinned.get(part)), _text(found.get(part)))
        for part in PARTS
        if pinned.get(part) != found.get(part)
    ]


def words(part: str) -> str:
    """What a part of a definition is called."""
    return {
        "name": _("Name there"),
        "title": _("Title"),
        "description": _("Description"),
        "input_schema": _("Schema of the arguments"),
        "output_schema": _("Schema of the answer"),
        "annotations": _("What it claims of itself"),
        "endpoint": _("Address"),
    }[part]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
