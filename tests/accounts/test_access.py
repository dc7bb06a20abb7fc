"""Which tenant a request sees, and that rights are read at every request."""

from __future__ import annotations

import asyncio

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, RequestFactory
from django.utils import timezone, translation

from accounts import rights, scope
from accounts.access import TENANT_KEY, TenantMiddleware
from accounts.models import Invitation, Membership, Role, User
from tests.make import people as make

pytestmark = pytest.mark.django_db


def test_a_query_without_a_tenant_is_refused() -> None:
    """Checklist C1. Guards accounts/scope.py `current_tenant`."""
    with pytest.raises(scope.NoTenant):
        Membership.objects.count()
    with scope.tenant_scope(make.tenant().pk):
        assert Membership.objects.count() == 0


def test_a_scope_shows_its_tenant_alone() -> None:
    cast = make.cast()
    with scope.tenant_scope(cast.other.pk):
        assert {row.user_id for row in Membership.objects.all()} == {cast.otto.pk}


def test_pages_see_the_tenant_of_the_person() -> None:
    cast = make.cast()
    answer = make.browser(cast.otto).get("/people/")
    assert answer.status_code == 200
    assert cast.otto.email in answer.content.decode()
    assert cast.jonas.email not in answer.content.decode()


def test_without_signing_in_one_is_sent_to_the_door_and_back() -> None:
    answer = make.browser().get("/people/")
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=/people/"


def test_a_fragment_is_told_to_leave_as_a_whole() -> None:
    answer = make.browser().get(
        "/people/", HTTP_HX_REQUEST="true", HTTP_HX_CURRENT_URL="http://testserver/tasks/?q=a"
    )
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == "/sign-in/?next=/tasks/%3Fq%3Da"
    elsewhere = make.browser().get(
        "/people/", HTTP_HX_REQUEST="true", HTTP_HX_CURRENT_URL="https://evil.example/"
    )
    assert elsewhere["HX-Redirect"] == "/sign-in/?next=/"


def test_a_disabled_membership_ends_at_the_next_request() -> None:
    """Guards accounts/rights.py `_LIVE`."""
    cast = make.cast()
    client = make.browser(cast.jonas)
    assert client.get("/people/").status_code == 200
    Membership.everywhere.filter(user=cast.jonas).update(disabled_at=Now())
    assert client.get("/people/").status_code == 403
    assert client.get("/settings/profile/").status_code == 403


def test_a_disabled_person_is_out_at_the_next_request() -> None:
    cast = make.cast()
    client = make.browser(cast.jonas)
    User.objects.filter(pk=cast.jonas.pk).update(is_active=False)
    assert client.get("/people/").status_code == 302


def test_a_closed_tenant_lets_nobody_in() -> None:
    cast = make.cast()
    client = make.browser(cast.jonas)
    cast.tenant.active = False
    cast.tenant.save()
    assert client.get("/people/").status_code == 403


def test_a_role_taken_away_counts_at_once() -> None:
    cast = make.cast()
    client = make.browser(cast.jonas)
    Membership.everywhere.filter(user=cast.jonas).update(roles=[Role.SUBMITTER])
    assert client.get("/people/").status_code == 403
    assert not rights.has_role(user_id=cast.jonas.pk, tenant_id=cast.tenant.pk, role=Role.ADMINISTRATOR)


def test_people_with_a_role_are_live_ones_of_this_tenant() -> None:
    cast = make.cast()
    found = rights.people_with(tenant_id=cast.tenant.pk, role=Role.APPROVER)
    assert [user.pk for user in found] == [cast.ben.pk, cast.mira.pk]
    Membership.everywhere.filter(user=cast.ben).update(disabled_at=Now())
    User.objects.filter(pk=cast.mira.pk).update(is_active=False)
    assert rights.people_with(tenant_id=cast.tenant.pk, role=Role.APPROVER) == []


def test_one_person_may_switch_between_their_tenants() -> None:
    cast = make.cast()
    Membership.everywhere.create(tenant=cast.other, user=cast.jonas, roles=[Role.ADMINISTRATOR])
    client = make.browser(cast.jonas)
    key = client.session.session_key
    assert client.get(f"/settings/tenant/{cast.tenant.pk}/").status_code == 405
    for tenant, seen, hidden in ((cast.other, cast.otto, cast.ada), (cast.tenant, cast.ada, cast.otto)):
        assert client.post(f"/settings/tenant/{tenant.pk}/").status_code == 302
        page = client.get("/people/").content.decode()
        assert seen.email in page
        assert hidden.email not in page
    assert client.session.session_key != key
    assert make.browser(cast.ada).post(f"/settings/tenant/{cast.other.pk}/").status_code == 404


def test_a_chosen_tenant_that_was_lost_falls_back() -> None:
    cast = make.cast()
    second = Membership.everywhere.create(tenant=cast.other, user=cast.jonas, roles=[Role.ADMINISTRATOR])
    client = make.browser(cast.jonas)
    client.post(f"/settings/tenant/{cast.other.pk}/")
    Membership.everywhere.filter(pk=second.pk).update(disabled_at=Now())
    assert cast.ada.email in client.get("/people/").content.decode()


def test_foreign_ids_are_not_found_rather_than_forbidden() -> None:
    cast = make.cast()
    foreign = make.membership(cast.other, cast.otto)
    client = make.browser(cast.jonas)
    paths = ["", "disable/", "enable/", "password/"]
    codes = [
        client.post(f"/people/{foreign.pk}/{path}", {"roles": ["submitter"]}).status_code for path in paths
    ]
    assert codes == [404] * 4
    assert client.get(f"/people/{foreign.pk}/").status_code == 404
    assert make.membership(cast.other, cast.otto).disabled_at is None
    assert Invitation.everywhere.count() == 0


def run_through(user: object, **session: str) -> tuple[object, ...]:
    seen: list[object] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.extend(
            [scope.current_tenant(), translation.get_language(), timezone.get_current_timezone_name()]
        )
        return HttpResponse()

    request = RequestFactory().get("/")
    request.user = user  # type: ignore[assignment]
    request.session = session  # type: ignore[assignment]
    with translation.override("en"), timezone.override("UTC"):
        TenantMiddleware(view)(request)
    return tuple(seen)


def test_the_profile_sets_language_and_zone() -> None:
    tenant = make.tenant()
    user = make.person(tenant, language="zh-hans", time_zone="Asia/Shanghai")
    assert run_through(user) == (tenant.pk, "zh-hans", "Asia/Shanghai")


def test_an_unknown_language_or_zone_is_ignored() -> None:
    tenant = make.tenant()
    user = make.person(tenant, language="xx", time_zone="Mars/Base")
    assert run_through(user, **{TENANT_KEY: "nonsense"}) == (tenant.pk, "en", "UTC")


def test_a_stranger_gets_no_scope() -> None:
    with pytest.raises(scope.NoTenant):
        run_through(AnonymousUser())


@pytest.mark.django_db(transaction=True)
def test_the_scope_holds_under_asgi_and_does_not_leak() -> None:
    cast = make.cast()
    clients = []
    for user in (cast.jonas, cast.otto):
        client = AsyncClient()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        clients.append(client)

    async def together() -> list[str]:
        answers = await asyncio.gather(*(client.get("/people/") for client in clients * 5))
        return [answer.content.decode() for answer in answers]

    pages = asyncio.run(together())
    for place, page in enumerate(pages):
        seen, hidden = (cast.ada, cast.otto) if place % 2 == 0 else (cast.otto, cast.ada)
        assert seen.email in page
        assert hidden.email not in page
    with pytest.raises(scope.NoTenant):
        scope.current_tenant()


@pytest.mark.django_db
def test_somebody_who_is_switched_off_is_told_so_and_can_leave() -> None:
    """Guards templates/403.html: a session without a live membership has a way out."""
    cast = make.cast()
    page = make.browser(cast.ada)
    membership = make.membership(cast.tenant, cast.ada)
    type(membership).everywhere.filter(pk=membership.pk).update(disabled_at="2026-01-01T00:00:00Z")
    answer = page.get("/tasks/")
    assert answer.status_code == 403
    html = answer.content.decode()
    assert "switched off" in html
    assert 'action="/sign-out/"' in html


@pytest.mark.django_db
def test_somebody_who_is_switched_off_everywhere_cannot_sign_in_to_nothing() -> None:
    """Guards door.py `authenticate`: a right password without a live membership opens no session."""
    cast = make.cast()
    page = make.browser()
    form = {"login": cast.ada.email, "password": make.PASSWORD}
    membership = make.membership(cast.tenant, cast.ada)
    type(membership).everywhere.filter(pk=membership.pk).update(disabled_at="2026-01-01T00:00:00Z")
    answer = page.post("/sign-in/", form)
    assert answer.status_code == 200
    assert "switched off" in answer.content.decode()
    assert "_auth_user_id" not in page.session
