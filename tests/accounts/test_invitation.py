"""The link of an invitation: opening changes nothing, accepting works once, and nobody's password is set by it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from accounts import letters
from accounts.errors import Refused
from accounts.models import Invitation, Membership, User
from accounts.verbs.accept_invitation import accept_invitation, open_invitation
from accounts.verbs.invite import invite
from tests.make import people as make

pytestmark = pytest.mark.django_db
CHOSEN = {"name": "Nia New", "password1": make.PASSWORD, "password2": make.PASSWORD}


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def asked(cast: make.Cast, email: str = "nia@new.example") -> tuple[Invitation, str]:
    made = invite(tenant_id=cast.tenant.pk, actor_id=cast.jonas.pk, email=email, roles=["approver"])
    return made, letters.invitation_secret(made.pk)


def test_the_letter_holds_the_link_and_the_table_does_not(cast: make.Cast) -> None:
    made, secret = asked(cast)
    letter = letters.compose(kind="invitation", payload={"invitation_id": made.pk.hex})
    assert letter is not None
    assert letter.to == "nia@new.example"
    assert f"http://127.0.0.1:8000/invitation/{secret}/" in letter.text
    assert secret.encode() not in bytes(Invitation.everywhere.get(pk=made.pk).digest)


def test_opening_changes_nothing_and_joining_works_once(cast: make.Cast) -> None:
    made, secret = asked(cast)
    client = make.browser()
    for _ in range(2):
        page = client.get(f"/invitation/{secret}/")
        assert page.status_code == 200
        assert cast.tenant.name in page.content.decode()
    assert Invitation.everywhere.get(pk=made.pk).accepted_at is None
    assert not User.objects.filter(email=made.email).exists()

    assert client.post(f"/invitation/{secret}/", CHOSEN).status_code == 302
    user = User.objects.get(email=made.email)
    assert user.name == "Nia New"
    assert make.membership(cast.tenant, user).roles == ["approver"]
    assert client.get("/settings/profile/").status_code == 200
    assert make.browser().post(f"/invitation/{secret}/", CHOSEN).status_code == 410
    assert letters.compose(kind="invitation", payload={"invitation_id": made.pk.hex}) is None


@pytest.mark.parametrize(
    "wrong",
    [{"password2": "something else 1"}, {"password1": "short", "password2": "short"}, {"name": ""}],
)
def test_a_bad_choice_makes_no_account(cast: make.Cast, wrong: dict[str, str]) -> None:
    made, secret = asked(cast)
    page = make.browser().post(f"/invitation/{secret}/", {**CHOSEN, **wrong})
    assert page.status_code == 200
    assert page.context["form"].errors
    assert not User.objects.filter(email=made.email).exists()
    assert Invitation.everywhere.get(pk=made.pk).accepted_at is None


def test_an_existing_account_must_sign_in_to_accept(cast: make.Cast) -> None:
    """Danger: a mail in the wrong hands, or an administrator elsewhere, sets the password of an existing account."""
    made, secret = asked(cast, cast.otto.email)
    assert make.browser().post(f"/invitation/{secret}/", CHOSEN).status_code == 200
    cast.otto.refresh_from_db()
    assert cast.otto.check_password(make.PASSWORD)
    assert not Membership.everywhere.filter(tenant=cast.tenant, user=cast.otto).exists()

    client = make.browser(cast.otto)
    assert client.post(f"/invitation/{secret}/").status_code == 302
    assert make.membership(cast.tenant, cast.otto).roles == ["approver"]
    assert Invitation.everywhere.get(pk=made.pk).accepted_at is not None


def test_somebody_else_cannot_take_it(cast: make.Cast) -> None:
    made, secret = asked(cast)
    page = make.browser(cast.otto).post(f"/invitation/{secret}/", CHOSEN)
    assert page.status_code == 200
    assert Invitation.everywhere.get(pk=made.pk).accepted_at is None
    with pytest.raises(Refused) as refusal:
        accept_invitation(secret=secret, user_id=cast.otto.pk)
    assert refusal.value.code == "other_person"


@pytest.mark.parametrize("end", [{"expires_at": Now() - timedelta(seconds=1)}, {"withdrawn_at": Now()}])
def test_a_link_that_ended_does_nothing(cast: make.Cast, end: dict[str, object]) -> None:
    made, secret = asked(cast)
    Invitation.everywhere.filter(pk=made.pk).update(**end)
    assert open_invitation(secret) is None
    assert make.browser().post(f"/invitation/{secret}/", CHOSEN).status_code == 410
    assert not User.objects.filter(email=made.email).exists()


def test_a_guessed_link_is_nothing() -> None:
    assert make.browser().get("/invitation/guess/").status_code == 410
