"""Tools from an OpenAPI document: look through what it offers, choose, and get drafts to confirm."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import MemberRequest, member
from accounts.models import Role
from tools import drafts, forms
from tools.models import Tool


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def import_tools(request: MemberRequest) -> HttpResponse:
    """The document, then its operations; nothing is in force afterwards."""
    form = forms.ImportForm(request.POST or None, request.FILES or None)
    known = set(Tool.objects.values_list("name", flat=True))
    found = form.found if request.method == "POST" and form.is_valid() else []
    if found and "choose" in request.POST:
        chosen = set(request.POST.getlist("operation"))
        made = [one for one in found if one.name in chosen and one.name not in known]
        if made:
            return import_as_drafts(request, made)
    rows = [{"operation": one, "known": one.name in known} for one in found]
    return render(request, "tools/import.html", {"form": form, "rows": rows})


class Offered(Protocol):
    """A tool that some description offers."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def declared(self) -> Mapping[str, Any]: ...


def import_as_drafts(request: MemberRequest, made: Sequence[Offered]) -> HttpResponse:
    """All of them or none; then on to the drafts, which somebody has to confirm."""
    with transaction.atomic(durable=True):
        for one in made:
            drafts.imported(
                tenant_id=request.tenant.pk,
                by=request.user.pk,
                name=one.name,
                title=one.title,
                description=one.description,
                declared=dict(one.declared),
            )
    text = ngettext(
        "%s tool is imported as a draft. No agent can call it until you publish its contract.",
        "%s tools are imported as drafts. No agent can call them until you publish their contracts.",
        len(made),
    )
    messages.success(request, text % len(made))
    return redirect(f"{reverse('tools:tools')}?kind=drafts")
