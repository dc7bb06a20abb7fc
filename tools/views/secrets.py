"""Credentials of tools: set, replaced, deleted; never shown."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from tools import vault
from tools.models import Secret


class SecretForm(forms.Form):
    """A name that contracts use, and the value. The value never comes back into the page."""

    name = forms.CharField(
        max_length=80, label=gettext_lazy("Name"), help_text=gettext_lazy("As contracts name it.")
    )
    value = forms.CharField(
        label=gettext_lazy("Value"),
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("It is kept encrypted and never shown again. An old value is replaced."),
    )


@sensitive_post_parameters("value")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def secrets(request: MemberRequest) -> HttpResponse:
    """The list of names with what uses each, and a form to set or replace one (``?name=`` fills it in)."""
    form = SecretForm(request.POST or None, initial={"name": request.GET.get("name", "")[:80]})
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"].strip()
        before = Secret.objects.filter(name=name).exists()
        attempt(
            request,
            lambda: vault.keep(
                tenant_id=request.tenant.pk, name=name, value=form.cleaned_data["value"], by=request.user.pk
            ),
            form,
        )
        if form.is_valid():
            text = _("The secret %s is replaced.") if before else _("The secret %s is kept.")
            messages.success(request, text % name)
            return redirect("tools:secrets")
    rows = Secret.objects.select_related("set_by").order_by("name")
    used = vault.used_by(tenant_id=request.tenant.pk)
    context = {"form": form, "secrets": [{"row": row, "tools": used.get(row.name, [])} for row in rows]}
    return render(request, "tools/secrets.html", context)


@require_POST
@member(Role.ADMINISTRATOR)
def delete(request: MemberRequest) -> HttpResponse:
    """Delete one that no contract in force needs."""
    name = request.POST.get("name", "")
    if attempt(request, lambda: vault.forget(tenant_id=request.tenant.pk, name=name, by=request.user.pk)):
        messages.success(request, _("The secret %s is deleted.") % name)
    return redirect("tools:secrets")
