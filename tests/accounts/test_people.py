"""What an administrator does about people, by the verbs and on the pages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from accounts import audit
from accounts.errors import Refused
from accounts.models import ApiToken, AuditEntry, Invitation, Membership, Role, Tenant, User
from accounts.verbs.add_person import add_person
from accounts.verbs.change_roles import change_roles
from accounts.verbs.disable_person import disable_person
from accounts.verbs.enable_person import enable_person
from accounts.verbs.invite import invite
from accounts.verbs.issue_token import issue_token
from accounts.verbs.withdraw_invitation import withdraw_invitation
from outbox.models import Message
from tests.make import people as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def acts(tenant: Tenant) -> list[str]:
    rows = AuditEntry.everywhere.filter(tenant=tenant).order_by("sequence")
    assert audit.verify(tenant_id=tenant.pk) == []
    return list(rows.values_list("act", flat=True))


def who(cast: make.Cast, user: User, actor: User | None = None) -> dict[str, Any]:
    tenant = cast.tenant
    return {
        "tenant_id": tenant.pk,
        "actor_id": (actor or cast.jonas).pk,
        "membership_id": make.membership(tenant, user).pk,
    }


def test_roles_change_and_leave_a_trace(cast: make.Cast) -> None:
    change_roles(**who(cast, cast.ada), roles=["approver", "submitter"])
    assert make.membership(cast.tenant, cast.ada).roles == ["submitter", "approver"]
    entry = AuditEntry.everywhere.get(tenant=cast.tenant)
    assert (entry.act, entry.actor_id) == ("membership.roles_changed", cast.jonas.pk)
    assert entry.payload == {"before": ["submitter"], "after": ["submitter", "approver"]}


@pytest.mark.parametrize("roles", [[], ["king"], ["submitter", "king"]])
def test_unknown_or_no_roles_change_nothing(cast: make.Cast, roles: list[str]) -> None:
    with pytest.raises(Refused) as refusal:
        change_roles(**who(cast, cast.ada), roles=roles)
    assert refusal.value.field == "roles"
    assert acts(cast.tenant) == []


@pytest.mark.parametrize("actor", ["ada", "ben", "otto"])
def test_only_an_administrator_of_this_tenant_acts(cast: make.Cast, actor: str) -> None:
    """Guards accounts/verbs/checks.py `administrator`."""
    somebody = getattr(cast, actor)
    tries: list[Callable[[], object]] = [
        lambda: change_roles(**who(cast, cast.ada, somebody), roles=["approver"]),
        lambda: disable_person(**who(cast, cast.ada, somebody)),
        lambda: invite(
            tenant_id=cast.tenant.pk, actor_id=somebody.pk, email="x@y.example", roles=["submitter"]
        ),
        lambda: add_person(
            tenant_id=cast.tenant.pk,
            actor_id=somebody.pk,
            email="x@y.example",
            name="X",
            roles=["submitter"],
            password=make.PASSWORD,
        ),
    ]
    for act in tries:
        with pytest.raises(Refused) as refusal:
            act()
        assert refusal.value.code == "not_administrator"
    assert acts(cast.tenant) == []


def test_disabling_revokes_tokens_and_enabling_does_not_bring_them_back(cast: make.Cast) -> None:
    token, _ = issue_token(tenant_id=cast.tenant.pk, user_id=cast.ada.pk, name="ERP", scopes=["read"])
    disable_person(**who(cast, cast.ada))
    assert make.membership(cast.tenant, cast.ada).disabled_at is not None
    with pytest.raises(Refused):
        disable_person(**who(cast, cast.ada))
    enable_person(**who(cast, cast.ada))
    assert make.membership(cast.tenant, cast.ada).disabled_at is None
    assert ApiToken.everywhere.get(pk=token.pk).revoked_at is not None
    assert acts(cast.tenant) == ["token.issued", "membership.disabled", "membership.enabled"]


@pytest.mark.parametrize("how", ["disable", "roles"])
def test_the_last_administrator_stays(cast: make.Cast, how: str) -> None:
    """Guards accounts/verbs/checks.py `someone_administers`."""
    act: Callable[..., object] = disable_person if how == "disable" else change_roles
    more = {} if how == "disable" else {"roles": ["submitter"]}
    with pytest.raises(Refused) as refusal:
        act(**who(cast, cast.jonas), **more)
    assert refusal.value.code == "last_administrator"
    assert make.membership(cast.tenant, cast.jonas).disabled_at is None
    assert make.membership(cast.tenant, cast.jonas).roles == ["administrator"]


def test_an_administrator_whose_account_is_off_does_not_count(cast: make.Cast) -> None:
    make.person(cast.tenant, Role.ADMINISTRATOR, name="Gone", is_active=False)
    with pytest.raises(Refused):
        disable_person(**who(cast, cast.jonas))


@pytest.mark.django_db(transaction=True)
def test_two_administrators_cannot_remove_each_other_at_once() -> None:
    """Danger: both look, both see another administrator, both disable. The tenant row is the queue."""
    cast = make.cast()
    second = make.person(cast.tenant, Role.ADMINISTRATOR, name="Second Admin")
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def act(actor: User, other: User) -> None:
        facts = who(cast, other, actor)
        start.wait()
        try:
            disable_person(**facts)
            outcomes.append("done")
        except Refused as refusal:
            outcomes.append(refusal.code)
        finally:
            connections.close_all()

    pair = [(cast.jonas, second), (second, cast.jonas)]
    threads = [threading.Thread(target=act, args=each) for each in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "not_administrator"]
    live = Membership.everywhere.filter(
        tenant=cast.tenant, disabled_at=None, roles__contains=["administrator"]
    )
    assert live.count() == 1


def test_adding_refuses_an_address_that_has_an_account(cast: make.Cast) -> None:
    """Otherwise an administrator of one tenant could pull people of another in, or set their password."""
    with pytest.raises(Refused) as refusal:
        add_person(
            tenant_id=cast.tenant.pk,
            actor_id=cast.jonas.pk,
            email=cast.otto.email.upper(),
            name="Otto",
            roles=["submitter"],
            password="other password 123",
        )
    assert refusal.value.field == "email"
    cast.otto.refresh_from_db()
    assert cast.otto.check_password(make.PASSWORD)


def test_a_second_invitation_replaces_the_first(cast: make.Cast) -> None:
    asked: dict[str, Any] = {"tenant_id": cast.tenant.pk, "actor_id": cast.jonas.pk, "roles": ["submitter"]}
    first = invite(email="New@Person.example", **asked)
    second = invite(email="new@person.example", **asked)
    rows = Invitation.everywhere.filter(tenant=cast.tenant)
    assert rows.get(pk=first.pk).withdrawn_at is not None
    assert rows.get(pk=second.pk).withdrawn_at is None
    withdraw_invitation(tenant_id=cast.tenant.pk, actor_id=cast.jonas.pk, invitation_id=second.pk)
    with pytest.raises(Refused):
        withdraw_invitation(tenant_id=cast.tenant.pk, actor_id=cast.jonas.pk, invitation_id=second.pk)
    assert acts(cast.tenant) == ["invitation.sent", "invitation.sent", "invitation.withdrawn"]


def test_the_letter_is_asked_for_in_the_same_transaction(cast: make.Cast) -> None:
    """Fault B12 for letters: no commit, no letter; commit, and the letter waits in the outbox."""
    asked: dict[str, Any] = {"tenant_id": cast.tenant.pk, "actor_id": cast.jonas.pk, "roles": ["submitter"]}
    with pytest.raises(Refused):
        invite(email=cast.ada.email, **asked)
    assert Message.objects.count() == 0
    invitation = invite(email="new@person.example", **asked)
    message = Message.objects.get()
    assert message.topic == "letter.invitation"
    assert message.payload == {"invitation_id": invitation.pk.hex}


def test_the_pages_do_what_the_verbs_do(cast: make.Cast) -> None:
    client = make.browser(cast.jonas)
    ada = make.membership(cast.tenant, cast.ada)
    assert client.post(f"/people/{ada.pk}/", {"roles": ["approver"]}).status_code == 302
    assert client.post(f"/people/{ada.pk}/disable/").status_code == 302
    page = client.get("/people/").content.decode()
    assert cast.ada.email in page
    assert client.post(f"/people/{ada.pk}/enable/").status_code == 302
    added = {"name": "Nia", "email": "nia@linden.example", "password": make.PASSWORD, "roles": ["submitter"]}
    assert client.post("/people/add/", added).status_code == 302
    assert (
        client.post("/people/invite/", {"email": "z@linden.example", "roles": ["approver"]}).status_code
        == 302
    )
    assert b"z@linden.example" in client.get("/people/").content
    assert client.post(f"/people/{ada.pk}/password/").status_code == 302
    assert acts(cast.tenant) == [
        "membership.roles_changed",
        "membership.disabled",
        "membership.enabled",
        "membership.added",
        "invitation.sent",
        "password.link_sent",
    ]
    listed = client.get("/audit/").content.decode()
    assert "membership.roles_changed" in listed


def test_a_refusal_is_said_on_the_page(cast: make.Cast) -> None:
    client = make.browser(cast.jonas)
    own = make.membership(cast.tenant, cast.jonas)
    page = client.post(f"/people/{own.pk}/", {"roles": ["submitter"]})
    assert page.status_code == 200
    assert b"This is the last administrator" in page.content
    after = client.post(f"/people/{own.pk}/disable/", follow=True)
    assert b"This is the last administrator" in after.content


@pytest.mark.parametrize("typed", ["x\x00y", "x\ud800y"])
def test_b79_names_that_cannot_be_stored_are_refused(cast: make.Cast, typed: str) -> None:
    """Guards accounts/forms.py `StorableForm` (and Django's own check of NUL)."""
    from accounts.forms import ProfileForm

    form = ProfileForm({"name": typed, "language": "", "time_zone": ""})
    assert not form.is_valid()
    assert "name" in form.errors


def test_the_profile_is_saved_and_speaks_at_once(cast: make.Cast) -> None:
    client = make.browser(cast.ada)
    given = {"name": "Ada L.", "language": "zh-hans", "time_zone": "Asia/Shanghai"}
    assert client.post("/settings/profile/", given).status_code == 302
    cast.ada.refresh_from_db()
    assert (cast.ada.name, cast.ada.language, cast.ada.time_zone) == tuple(given.values())
    assert b'lang="zh-hans"' in client.get("/settings/profile/").content
    assert client.post("/i18n/language/", {"language": "en", "next": "/"}).status_code == 302
    cast.ada.refresh_from_db()
    assert cast.ada.language == "en"
    ben = make.browser(cast.ben)
    ben.post("/i18n/language/", {"language": "zh-hans", "next": "/"})
    ben.post("/i18n/language/", {"language": "klingon", "next": "/"})
    cast.ben.refresh_from_db()
    assert cast.ben.language == "zh-hans", "mails follow the switch as well"
    assert client.post("/settings/profile/", {**given, "time_zone": "Mars/Base"}).status_code == 200
