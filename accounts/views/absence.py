"""Away: everybody says so of themselves, administrators of anybody."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts import rights, selectors
from accounts.access import MemberRequest, member
from accounts.forms_staff import AbsenceForm
from accounts.models import Absence, Membership, Role, User
from accounts.verbs.end_absence import end_absence
from accounts.verbs.set_absence import set_absence
from accounts.views.answer import attempt


@require_http_methods(["GET", "HEAD", "POST"])
@member()
def away(request: MemberRequest) -> HttpResponse:
    """One's own absences."""
    return _page(request, request.user, "away", "accounts:away")


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def away_of(request: MemberRequest, membership_id: uuid.UUID) -> HttpResponse:
    """The absences of somebody else."""
    row = Membership.objects.select_related("user").filter(pk=membership_id).first()
    if row is None:
        raise Http404
    return _page(request, row.user, "people", "accounts:away_of", membership_id)


@require_POST
@member()
def back(request: MemberRequest, absence_id: uuid.UUID) -> HttpResponse:
    """End an absence: one's own, or anybody's for an administrator; 404 for everybody else."""
    row = Absence.objects.filter(pk=absence_id).first()
    mine = row is not None and row.user_id == request.user.pk
    if row is None or not (mine or Role.ADMINISTRATOR in request.membership.roles):
        raise Http404
    who: dict[str, Any] = {"tenant_id": request.tenant.pk, "actor_id": request.user.pk}
    if attempt(request, lambda: end_absence(**who, absence_id=absence_id)):
        messages.success(request, _("It counts no more."))
    if mine:
        return redirect("accounts:away")
    of = Membership.objects.get(user_id=row.user_id)
    return redirect("accounts:away_of", of.pk)


def _page(request: MemberRequest, user: User, room: str, route: str, *args: Any) -> HttpResponse:
    live = [one.user for one in rights.live(tenant_id=request.tenant.pk) if one.user_id != user.pk]
    form = AbsenceForm(request.POST or None, people=live)
    if request.method == "POST" and form.is_valid() and _set(request, user, form):
        messages.success(request, _("Saved. Colleagues see it beside the name."))
        return redirect(route, *args)
    context = {
        "room": room,
        "person": user,
        "mine": user.pk == request.user.pk,
        "absences": selectors.absences(tenant_id=request.tenant.pk, user_id=user.pk),
        "form": form,
    }
    return render(request, "accounts/away.html", context)


def _set(request: MemberRequest, user: User, form: AbsenceForm) -> Absence | None:
    typed = form.cleaned_data

    def act() -> Absence:
        return set_absence(
            tenant_id=request.tenant.pk,
            actor_id=request.user.pk,
            user_id=user.pk,
            begins_at=typed["begins_at"],
            ends_at=typed["ends_at"],
            stand_in_id=typed["stand_in"],
            note=typed["note"],
        )

    return attempt(request, act, form)
