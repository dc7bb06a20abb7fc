"""The page behind the link of an invitation. Opening it changes nothing."""

from typing import Any

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import access, forms, selectors
from accounts.models import Invitation, User
from accounts.verbs.accept_invitation import accept_invitation, open_invitation
from accounts.views.answer import attempt

BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """A new person chooses name and password; one with an account must be signed in as the person invited."""
    found = open_invitation(secret)
    if found is None:
        return render(request, "accounts/accept.html", {"invitation": None}, status=410)
    known = User.objects.filter(email__iexact=found.email).exists()
    data = request.POST if request.method == "POST" else None
    form = (
        forms.StorableForm(data)
        if known
        else forms.AcceptForm(data, email=found.email, initial={"name": found.name})
    )
    if request.method == "POST" and form.is_valid():
        user = attempt(request, lambda: _accept(request, secret, form), form)
        if user:
            if not request.user.is_authenticated:
                login(request, user, backend=BACKEND)
            request.session[access.TENANT_KEY] = found.tenant_id.hex
            return redirect("/")
    return render(
        request, "accounts/accept.html", {"invitation": _shown(found), "form": form, "known": known}
    )


def _accept(request: HttpRequest, secret: str, form: Any) -> User:
    if request.user.is_authenticated:
        return accept_invitation(secret=secret, user_id=request.user.pk)
    typed = form.cleaned_data
    return accept_invitation(secret=secret, name=typed.get("name", ""), password=typed.get("password1", ""))


def _shown(found: Invitation) -> dict[str, object]:
    return {
        "tenant": found.tenant.name,
        "email": found.email,
        "roles": selectors.role_words(found.roles),
        "invited_by": found.invited_by.name,
    }
