"""People and access, for administrators: the list, invitations, adding."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import forms, selectors
from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.rights import people_with
from accounts.verbs.add_person import add_person
from accounts.verbs.invite import invite
from accounts.verbs.withdraw_invitation import withdraw_invitation
from accounts.views.answer import attempt
from accounts.views.escalation import OwnerForm


@require_safe
@member(Role.ADMINISTRATOR)
def people(request: MemberRequest) -> HttpResponse:
    """The list. Context: see the head of the template."""
    tenant_id = request.tenant.pk
    rows = selectors.people(tenant_id=tenant_id, reader_id=request.user.pk)
    invitations = [
        {
            "id": one.pk,
            "email": one.email,
            "roles": selectors.role_words(one.roles),
            "invited_by": one.invited_by,
            "expires_at": one.expires_at,
            "expired": False,
            "withdraw_url": reverse("accounts:withdraw_invitation", args=[one.pk]),
        }
        for one in selectors.open_invitations(tenant_id=tenant_id)
    ]
    warning = None
    if not people_with(tenant_id=tenant_id, role=Role.APPROVER):
        warning = {
            "lead": _("Nobody may approve."),
            "text": _("What needs approval will wait, and expire, until somebody is made approver."),
        }
    return render(
        request,
        "accounts/people.html",
        {
            "room": "people",
            "people": [
                {
                    **{name: getattr(row, name) for name in row.__slots__},
                    "change_url": reverse("accounts:person", args=[row.id]),
                }
                for row in rows
            ],
            "invitations": invitations,
            "invite_url": reverse("accounts:invite"),
            "add_url": reverse("accounts:add_person"),
            "warning": warning,
            "owner_form": OwnerForm(tenant=request.tenant),
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def invite_person(request: MemberRequest) -> HttpResponse:
    """Ask an address to join."""
    form = forms.InviteForm(request.POST or None, initial={"roles": [Role.SUBMITTER]})
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        done = attempt(
            request,
            lambda: invite(tenant_id=request.tenant.pk, actor_id=request.user.pk, **asked),
            form,
        )
        if done:
            messages.success(request, _("The invitation to %(email)s is on its way.") % {"email": done.email})
            return redirect("accounts:people")
    return render(request, "accounts/invite.html", {"room": "people", "form": form})


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def add(request: MemberRequest) -> HttpResponse:
    """Add somebody with a first password."""
    form = forms.AddPersonForm(request.POST or None, initial={"roles": [Role.SUBMITTER]})
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        done = attempt(
            request,
            lambda: add_person(tenant_id=request.tenant.pk, actor_id=request.user.pk, **asked),
            form,
        )
        if done:
            messages.success(request, _("%(name)s was added.") % {"name": done.user.name})
            return redirect("accounts:people")
    return render(request, "accounts/add.html", {"room": "people", "form": form})


@require_POST
@member(Role.ADMINISTRATOR)
def withdraw(request: MemberRequest, invitation_id: uuid.UUID) -> HttpResponse:
    """Take an invitation back."""
    attempt(
        request,
        lambda: withdraw_invitation(
            tenant_id=request.tenant.pk, actor_id=request.user.pk, invitation_id=invitation_id
        ),
    )
    return redirect("accounts:people")
