"""Groups of people that rules may name, for administrators."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts import rights, selectors
from accounts.access import MemberRequest, member
from accounts.forms_staff import GroupForm, NewGroupForm
from accounts.models import Group, GroupMember, Role, User
from accounts.verbs.add_group import add_group
from accounts.verbs.change_group import change_group
from accounts.verbs.close_group import close_group
from accounts.views.answer import attempt


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def groups(request: MemberRequest) -> HttpResponse:
    """The open groups, and a new one."""
    form = NewGroupForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        who: dict[str, Any] = {"tenant_id": request.tenant.pk, "actor_id": request.user.pk}
        made = attempt(request, lambda: add_group(**who, name=name), form)
        if made:
            messages.success(request, _("The group stands. Now say who is in it."))
            return redirect("accounts:group", made.pk)
    context = {"room": "groups", "groups": selectors.groups(tenant_id=request.tenant.pk), "form": form}
    return render(request, "accounts/groups.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def group(request: MemberRequest, group_id: uuid.UUID) -> HttpResponse:
    """Name and people of one group."""
    row = Group.objects.filter(pk=group_id, closed_at__isnull=True).first()
    if row is None:
        raise Http404
    inside = GroupMember.objects.select_related("user").filter(group=row)
    people = _people(request, [place.user for place in inside])
    shown = {"name": row.name, "members": [str(place.user_id) for place in inside]}
    form = GroupForm(request.POST or None, initial=shown, people=people)
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        done = attempt(
            request,
            lambda: change_group(
                tenant_id=request.tenant.pk,
                actor_id=request.user.pk,
                group_id=group_id,
                name=typed["name"],
                user_ids=typed["members"],
            ),
            form,
        )
        if done:
            messages.success(request, _("Saved. It counts at once."))
            return redirect("accounts:groups")
    return render(request, "accounts/group.html", {"room": "groups", "group": row, "form": form})


@require_POST
@member(Role.ADMINISTRATOR)
def close(request: MemberRequest, group_id: uuid.UUID) -> HttpResponse:
    """End a group."""
    who: dict[str, Any] = {"tenant_id": request.tenant.pk, "actor_id": request.user.pk}
    attempt(request, lambda: close_group(**who, group_id=group_id))
    return redirect("accounts:groups")


def _people(request: MemberRequest, inside: list[User]) -> list[User]:
    """Active members by name, then who is in the group and has left."""
    live = [one.user for one in rights.live(tenant_id=request.tenant.pk)]
    known = {one.pk for one in live}
    return [*live, *(user for user in inside if user.pk not in known)]
