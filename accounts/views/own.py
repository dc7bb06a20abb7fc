"""What a person changes about themselves: profile, tenant in view, language."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from django.views.i18n import set_language

from accounts import access, forms, rights
from accounts.access import MemberRequest, member
from accounts.models import User
from accounts.verbs.change_profile import change_profile
from accounts.views.answer import attempt


@require_http_methods(["GET", "HEAD", "POST"])
@member()
def profile(request: MemberRequest) -> HttpResponse:
    """Name, language, time zone; and the tenants one may switch between."""
    user = request.user
    shown = {"name": user.name, "language": user.language, "time_zone": user.time_zone}
    form = forms.ProfileForm(request.POST or None, initial=shown)
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        attempt(request, lambda: change_profile(user_id=user.pk, **typed), form)
        if not form.errors:
            messages.success(request, _("Saved."))
            return redirect("accounts:profile")
    mine = rights.memberships(user_id=user.pk)
    return render(
        request,
        "accounts/profile.html",
        {"room": "profile", "form": form, "memberships": mine if len(mine) > 1 else []},
    )


@require_POST
@member()
def switch(request: MemberRequest, tenant_id: uuid.UUID) -> HttpResponse:
    """Look at another tenant of one's own."""
    if rights.membership(user_id=request.user.pk, tenant_id=tenant_id) is None:
        raise Http404
    request.session[access.TENANT_KEY] = tenant_id.hex
    # The session means more or less than before: what knew its old key must ask again.
    request.session.cycle_key()
    return redirect("/")


@require_POST
def language(request: HttpRequest) -> HttpResponseBase:
    """The switch in the frame of every page. A person who is signed in keeps the choice: mails follow it too."""
    response = set_language(request)
    wanted = request.POST.get("language", "")
    user = request.user
    if isinstance(user, User):
        attempt(
            request,
            lambda: change_profile(
                user_id=user.pk, name=user.name, language=wanted, time_zone=user.time_zone
            ),
        )
    return response
