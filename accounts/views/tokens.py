"""A person's own API tokens."""

import uuid

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import drafts, forms, proof, selectors
from accounts.access import MemberRequest, member
from accounts.models import ApiToken, Role, TokenScope
from accounts.verbs.issue_token import issue_token
from accounts.verbs.revoke_token import revoke_token
from accounts.views.answer import attempt


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member()
def tokens(request: MemberRequest) -> HttpResponse:
    """The list and a form for a new one. The plain text is in the answer to the POST and nowhere else."""
    form, here = _form(request), reverse("accounts:tokens")
    once = None
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        if TokenScope.DECIDE_HIGH_RISK in typed["scopes"] and not proof.fresh(request):
            drafts.keep(request, of=here)
            return proof.ask(request, back=here)
        drafts.drop(request, of=here)
        made = attempt(
            request,
            lambda: issue_token(
                tenant_id=request.tenant.pk,
                user_id=request.user.pk,
                name=typed["name"],
                scopes=typed["scopes"],
                expires_at=typed["expires_at"],
            ),
            form,
        )
        if made:
            once = _once(*made)
            form = _form(request, empty=True)
    rows = selectors.tokens_of(tenant_id=request.tenant.pk, user_id=request.user.pk)
    shown = [_shown(row) for row in rows]
    context = {"room": "tokens", "tokens": shown, "form": form, "once": once}
    return render(request, "accounts/tokens.html", context)


@require_POST
@member()
def revoke(request: MemberRequest, token_id: uuid.UUID) -> HttpResponse:
    """End a token."""
    attempt(
        request,
        lambda: revoke_token(tenant_id=request.tenant.pk, actor_id=request.user.pk, token_id=token_id),
    )
    return redirect("accounts:tokens")


def _form(request: MemberRequest, *, empty: bool = False) -> forms.TokenForm:
    data = None if empty else request.POST or drafts.find(request, of=reverse("accounts:tokens"))
    return forms.TokenForm(data, may_decide=Role.APPROVER in request.membership.roles)


def _once(token: ApiToken, plain: str) -> dict[str, str]:
    words = ", ".join(selectors.scope_words(token.scopes))
    return {
        "title": _("“%(name)s” is made. Copy it now, it is shown only once.") % {"name": token.name},
        "text": _("Countersign keeps a hash of it and cannot show it again. It may: %(scopes)s.")
        % {"scopes": words},
        "value": plain,
    }


def _shown(row: ApiToken) -> dict[str, object]:
    ended = ""
    if row.revoked_at:
        ended = _("revoked %(day)s") % {"day": date_format(timezone.localtime(row.revoked_at), "DATE_FORMAT")}
    elif row.expires_at and row.expires_at < timezone.now():
        ended = _("ended %(day)s") % {"day": date_format(timezone.localtime(row.expires_at), "DATE_FORMAT")}
    return {
        "id": row.pk,
        "name": row.name,
        "prefix": row.prefix,
        "scopes": selectors.scope_words(row.scopes),
        "created_at": row.created_at,
        "last_used_at": row.last_used_at,
        "expires_at": row.expires_at,
        "ended": ended,
        "revoke_url": reverse("accounts:revoke_token", args=[row.pk]),
    }
