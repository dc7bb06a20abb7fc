"""The table of tools, a new one, and the switch of each."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from tools import drafts, forms, pauses, staffing, switches
from tools.models import Tool
from tools.present import register


@never_cache
@require_safe
@member(Role.ADMINISTRATOR)
def tools(request: MemberRequest) -> HttpResponse:
    """All tools with their path today, and why."""
    kind, sort, words = (request.GET.get(name, "")[:100] for name in ("kind", "sort", "q"))
    found = register.rows(tenant_id=request.tenant.pk)
    matching = register.named(found, words)
    context = {
        "rows": register.ordered(register.only(matching, kind), sort),
        "chips": register.chips(matching, kind, words, sort),
        "columns": register.columns(kind, words, sort),
        "kind": kind,
        "sort": sort,
        "words": words,
        "total": sum(not row.tool.is_drill for row in found),
        "paused": sum(bool(row.tool.paused_at) for row in found),
        "stopped": next(
            (one for one in switches.standing(tenant_id=request.tenant.pk) if one.scope == "tenant"), None
        ),
        "short": staffing.unsatisfiable(tenant_id=request.tenant.pk),
    }
    return render(request, "tools/tools.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def new_tool(request: MemberRequest) -> HttpResponse:
    """Name a tool; its contract is written on the next page."""
    form = forms.ToolForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        made = attempt(
            request,
            lambda: drafts.create(
                tenant_id=request.tenant.pk,
                by=request.user.pk,
                name=typed["name"],
                title=typed["title"],
                description=typed["description"],
            ),
            form,
        )
        if made:
            return redirect("tools:tool", made.name)
    return render(request, "tools/new.html", {"form": form})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def pause(request: MemberRequest, name: str) -> HttpResponse:
    """Stop a tool, with a reason that others read."""
    found = one(name)
    form = forms.ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        done = attempt(
            request,
            lambda: pauses.pause(tool_id=found.pk, by=request.user.pk, reason=form.cleaned_data["reason"]),
            form,
        )
        if done is not None:
            messages.success(
                request, _("%s is paused. Nothing is sent through it until it goes on.") % found.title
            )
            return redirect("tools:tools")
    return render(request, "tools/pause.html", {"tool": found, "form": form})


@require_POST
@member(Role.ADMINISTRATOR)
def go_on(request: MemberRequest, name: str) -> HttpResponse:
    """Let a tool go on."""
    found = one(name)
    if pauses.go_on(tool_id=found.pk, by=request.user.pk):
        messages.success(request, _("%s goes on. What waited for it is taken up again.") % found.title)
    return redirect("tools:tools")


def one(name: str) -> Tool:
    """The tenant's tool of that name; 404 for any other."""
    found: Tool | None = Tool.objects.select_related("paused_by").filter(name=name).first()
    if found is None:
        raise Http404
    return found
