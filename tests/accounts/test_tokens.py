"""API tokens: shown once, kept as a digest, never more powerful than asked for, dead when their person is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts import scope, tokens
from accounts.access import TenantMiddleware
from accounts.api_auth import BearerAuthentication, needs
from accounts.models import ApiToken, Membership, User
from accounts.verbs.issue_token import issue_token
from accounts.verbs.revoke_token import revoke_token
from tests.make import people as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def issued(cast: make.Cast, user: User, *scopes: str) -> tuple[ApiToken, str]:
    return issue_token(
        tenant_id=cast.tenant.pk, user_id=user.pk, name="ERP import", scopes=scopes or ["read"]
    )


def test_the_table_cannot_give_the_token_back(cast: make.Cast) -> None:
    token, plain = issued(cast, cast.ada)
    row = ApiToken.everywhere.filter(pk=token.pk).values().get()
    assert plain.startswith(row["prefix"])
    assert plain.encode() not in bytes(row["digest"])
    assert plain not in str(row)
    found = tokens.authenticate(plain)
    assert found is not None
    assert found.pk == token.pk
    assert tokens.authenticate(plain + "x") is None
    assert tokens.authenticate("") is None


def test_use_is_noted_once_a_minute(cast: make.Cast) -> None:
    token, plain = issued(cast, cast.ada)
    tokens.authenticate(plain)
    first = ApiToken.everywhere.get(pk=token.pk).last_used_at
    tokens.authenticate(plain)
    assert first is not None
    assert ApiToken.everywhere.get(pk=token.pk).last_used_at == first
    ApiToken.everywhere.filter(pk=token.pk).update(last_used_at=Now() - timedelta(minutes=2))
    tokens.authenticate(plain)
    assert ApiToken.everywhere.get(pk=token.pk).last_used_at >= first


@pytest.mark.parametrize("end", ["revoke", "expire", "membership", "person", "tenant"])
def test_a_token_ends_with_what_it_stands_on(cast: make.Cast, end: str) -> None:
    token, plain = issued(cast, cast.ada)
    if end == "revoke":
        revoke_token(tenant_id=cast.tenant.pk, actor_id=cast.ada.pk, token_id=token.pk)
    elif end == "expire":
        ApiToken.everywhere.filter(pk=token.pk).update(expires_at=Now() - timedelta(seconds=1))
    elif end == "membership":
        Membership.everywhere.filter(user=cast.ada).update(disabled_at=Now())
    elif end == "person":
        User.objects.filter(pk=cast.ada.pk).update(is_active=False)
    else:
        type(cast.tenant).objects.filter(pk=cast.tenant.pk).update(active=False)
    assert tokens.authenticate(plain) is None


def test_only_an_approver_makes_a_token_that_decides(cast: make.Cast) -> None:
    """Checklist C6. Guards accounts/tokens.py `issue`, its check of ``decide``."""
    assert issued(cast, cast.ben, "read", "decide")[0].scopes == ["decide", "read"]
    for user in (cast.ada, cast.jonas):
        with pytest.raises(tokens.NotGranted):
            tokens.issue(user_id=user.pk, tenant_id=cast.tenant.pk, name="x", scopes=["decide"])
    for scopes in ([], ["everything"], ["read", "everything"]):
        with pytest.raises(tokens.NotGranted):
            tokens.issue(user_id=cast.ben.pk, tenant_id=cast.tenant.pk, name="x", scopes=scopes)
    with pytest.raises(tokens.NotGranted):
        tokens.issue(user_id=cast.otto.pk, tenant_id=cast.tenant.pk, name="x", scopes=["read"])


def test_deciding_is_never_chosen_beforehand(cast: make.Cast) -> None:
    page = make.browser(cast.ben).get("/settings/tokens/")
    assert not any("checked" in str(choice.tag()) for choice in page.context["form"]["scopes"])
    offered = [
        value
        for value, _ in make.browser(cast.ada)
        .get("/settings/tokens/")
        .context["form"]
        .fields["scopes"]
        .choices
    ]
    assert "decide" not in offered
    refused = make.browser(cast.ada).post(
        "/settings/tokens/", {"name": "x", "scopes": ["decide"], "lifetime": "30"}
    )
    assert refused.status_code == 200
    assert not ApiToken.everywhere.exists()


def test_the_page_shows_it_once(cast: make.Cast) -> None:
    client = make.browser(cast.ada)
    made = client.post("/settings/tokens/", {"name": "ERP", "scopes": ["read"], "lifetime": "30"})
    plain = made.context["once"]["value"]
    assert tokens.authenticate(plain) is not None
    assert plain in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    assert plain not in client.get("/settings/tokens/").content.decode()
    token = ApiToken.everywhere.get()
    assert token.expires_at is not None
    assert client.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 302
    assert tokens.authenticate(plain) is None


def test_others_tokens_are_not_found(cast: make.Cast) -> None:
    token, plain = issued(cast, cast.ada)
    for stranger in (cast.ben, cast.otto):
        assert make.browser(stranger).post(f"/settings/tokens/{token.pk}/revoke/").status_code == 404
    assert tokens.authenticate(plain) is not None
    assert make.browser(cast.jonas).post(f"/settings/tokens/{token.pk}/revoke/").status_code == 302
    assert tokens.authenticate(plain) is None


def through(header: str, user: User | None = None) -> HttpRequest:
    request = RequestFactory().get("/api/v1/", headers={"Authorization": header})
    request.user = user or AnonymousUser()
    request.session = {}  # type: ignore[assignment]
    TenantMiddleware(lambda asked: HttpResponse())(request)
    return request


def test_the_middleware_reads_the_header_and_hides_the_session(cast: make.Cast) -> None:
    """A bearer token beside a session must not mix the rights of two people."""
    token, plain = issued(cast, cast.ada, "read")
    seen: list[object] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(scope.current_tenant())
        return HttpResponse()

    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {plain}"})
    request.user = cast.otto
    TenantMiddleware(view)(request)
    assert seen == [cast.tenant.pk]
    assert request.user != cast.otto
    assert BearerAuthentication().authenticate(Request(request)) == (cast.ada, token)


def test_a_bad_token_is_no_anonymous_visit(cast: make.Cast) -> None:
    request = through("Bearer cst_wrong", cast.otto)
    assert request.user.is_anonymous
    with pytest.raises(AuthenticationFailed):
        BearerAuthentication().authenticate(Request(request))
    assert BearerAuthentication().authenticate(Request(through("Basic YTpi"))) is None


def test_a_token_opens_no_page(cast: make.Cast) -> None:
    _, plain = issued(cast, cast.ben, "read", "decide")
    page = make.browser().get("/settings/profile/", HTTP_AUTHORIZATION=f"Bearer {plain}")
    assert page.status_code == 302


def test_scopes_are_what_was_granted(cast: make.Cast) -> None:
    _, plain = issued(cast, cast.ben, "read")
    request = Request(through(f"Bearer {plain}"), authenticators=[BearerAuthentication()])
    assert needs("read")().has_permission(request, None)  # type: ignore[arg-type]
    assert not needs("decide")().has_permission(request, None)  # type: ignore[arg-type]
    stranger = Request(through(""), authenticators=[BearerAuthentication()])
    assert not needs("read")().has_permission(stranger, None)  # type: ignore[arg-type]
