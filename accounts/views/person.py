"""One person, for administrators: roles, switching off and on, a link for a new password."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts import forms
from accounts.access import MemberRequest, member
from accounts.models import Membership, Role
from accounts.verbs.change_roles import change_roles
from accounts.verbs.disable_person import disable_person
from accounts.verbs.enable_person import enable_person
from accounts.verbs.send_password_link import send_password_link
from accounts.views.answer import attempt


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def person(request: MemberRequest, membership_id: uuid.UUID) -> HttpResponse:
    """What this person may do."""
    row = Membership.objects.select_related("user").filter(pk=membership_id).first()
    if row is None:
        raise Http404
    form = forms.RolesForm(request.POST or None, initial={"roles": row.roles})
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data["roles"]
        done = attempt(request, lambda: change_roles(**_who(request, membership_id), roles=wanted), form)
        if done:
            messages.success(request, _("Saved. It counts at once."))
            return redirect("accounts:people")
    disabled = row.disabled_at is not None
    return render(
        request,
        "accounts/person.html",
        {
            "room": "people",
            "person": {
                "name": row.user.name,
                "email": row.user.email,
                "you": row.user_id == request.user.pk,
                "disabled": disabled,
            },
            "form": form,
            "disable_url": "" if disabled else reverse("accounts:disable_person", args=[row.pk]),
            "enable_url": reverse("accounts:enable_person", args=[row.pk]) if disabled else "",
            "away_url": "" if disabled else reverse("accounts:away_of", args=[row.pk]),
            "reset_url": reverse("accounts:send_password_link", args=[row.pk]),
        },
    )


@require_POST
@member(Role.ADMINISTRATOR)
def disable(request: MemberRequest, membership_id: uuid.UUID) -> HttpResponse:
    """End the access at once."""
    return _act(request, membership_id, disable_person)


@require_POST
@member(Role.ADMINISTRATOR)
def enable(request: MemberRequest, membership_id: uuid.UUID) -> HttpResponse:
    """Give the access back."""
    return _act(request, membership_id, enable_person)


@require_POST
@member(Role.ADMINISTRATOR)
def password_link(request: MemberRequest, membership_id: uuid.UUID) -> HttpResponse:
    """Have a link sent with which the person chooses a new password."""
    attempt(request, lambda: send_password_link(**_who(request, membership_id)))
    messages.success(request, _("The link is on its way."))
    return redirect("accounts:person", membership_id)


def _act(request: MemberRequest, membership_id: uuid.UUID, verb: Callable[..., None]) -> HttpResponse:
    attempt(request, lambda: verb(**_who(request, membership_id)))
    return redirect("accounts:people")


def _who(request: MemberRequest, membership_id: uuid.UUID) -> dict[str, Any]:
    return {
        "tenant_id": request.tenant.pk,
        "actor_id": request.user.pk,
        "membership_id": membership_id,
    }
