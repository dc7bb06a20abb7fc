"""Who gets what nobody else can decide: a form on the page of the people, for administrators."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts import rights
from accounts.access import MemberRequest, member
from accounts.models import Role, Tenant
from accounts.verbs.set_escalation_owner import set_escalation_owner
from accounts.views.answer import attempt


class OwnerForm(forms.Form):
    """An active member of the tenant, or nobody."""

    owner = forms.TypedChoiceField(
        required=False,
        empty_value=None,
        label=gettext_lazy("Goes to"),
        help_text=gettext_lazy(
            "May decide what nobody else can, but never what they asked for or changed themselves."
        ),
    )

    def __init__(self, data: Any = None, *, tenant: Tenant) -> None:
        people = [one.user for one in rights.live(tenant_id=tenant.pk)]
        # Somebody who has left is shown as what it comes to: the administrators are asked.
        named = (
            tenant.escalation_owner_id if tenant.escalation_owner_id in {one.pk for one in people} else None
        )
        super().__init__(data, initial={"owner": str(named or "")})
        field = self.fields["owner"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [("", _("every administrator")), *((str(one.pk), str(one)) for one in people)]
        field.coerce = {str(one.pk): one.pk for one in people}.__getitem__


@require_POST
@member(Role.ADMINISTRATOR)
def escalation(request: MemberRequest) -> HttpResponse:
    """Name somebody, or nobody."""
    form = OwnerForm(request.POST, tenant=request.tenant)
    if not form.is_valid():
        messages.error(
            request, _("Only an active member can be asked when nobody else can decide. Nothing was changed.")
        )
        return redirect("accounts:people")
    owner = form.cleaned_data["owner"]

    def act() -> bool:
        set_escalation_owner(tenant_id=request.tenant.pk, owner_id=owner, actor_id=request.user.pk)
        return True

    if attempt(request, act):
        messages.success(request, _("Saved. It counts at once, also for what waits already."))
    return redirect("accounts:people")
