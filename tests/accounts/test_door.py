"""Signing in and out, passwords, the second factor."""

from __future__ import annotations

import re
import threading
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.urls import NoReverseMatch, reverse

from accounts import codes, letters
from accounts.models import User
from outbox.models import Message
from tests.make import people as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_window")]
NEW = "another fine password 7"


@pytest.fixture
def ada() -> User:
    return make.person(make.tenant())


def sign_in(client: Client, user: User, password: str = make.PASSWORD, **more: str) -> int:
    return client.post("/sign-in/", {"login": user.email, "password": password, **more}).status_code


def test_the_session_key_changes_at_the_door(ada: User) -> None:
    """Checklist C7: a key that was planted beforehand is worth nothing afterwards."""
    client = make.browser()
    client.get("/sign-in/")
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies["countersign_session"] = str(session.session_key)
    assert sign_in(client, ada) == 302
    assert client.session.session_key != session.session_key
    assert client.get("/settings/profile/").status_code == 200
    planted = make.browser()
    planted.cookies["countersign_session"] = str(session.session_key)
    assert planted.get("/settings/profile/").status_code == 302


def test_the_address_is_compared_without_case(ada: User) -> None:
    client = make.browser()
    assert (
        client.post("/sign-in/", {"login": ada.email.upper(), "password": make.PASSWORD}).status_code == 302
    )


def test_wrong_and_unknown_say_the_same(ada: User) -> None:
    answers = []
    for email in (ada.email, "nobody@linden.example"):
        page = make.browser().post("/sign-in/", {"login": email, "password": "wrong"})
        answers.append([str(error) for error in page.context["form"].non_field_errors()])
    assert answers[0] == answers[1] == ["That password does not fit this e-mail address."]


def test_a_disabled_account_is_not_let_in(ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(is_active=False)
    client = make.browser()
    sign_in(client, ada)
    assert client.get("/settings/profile/").status_code == 302


def test_one_is_sent_on_to_our_own_pages_alone(ada: User) -> None:
    for target, expected in (
        ("/people/", "/people/"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
    ):
        answer = make.browser().post(
            f"/sign-in/?next={target}", {"login": ada.email, "password": make.PASSWORD}
        )
        assert answer["Location"] == expected


def test_signing_out_needs_a_post_and_ends_the_session(ada: User) -> None:
    client = make.browser()
    sign_in(client, ada)
    client.get("/sign-out/")
    assert client.get("/settings/profile/").status_code == 200
    client.post("/sign-out/")
    assert client.get("/settings/profile/").status_code == 302
    assert Session.objects.count() == 0


def test_nobody_signs_up_by_themselves() -> None:
    for name in ("account_signup", "account_email", "account_set_password"):
        with pytest.raises(NoReverseMatch):
            reverse(name)
    for path in ("/sign-in/signup/", "/accounts/signup/", "/signup/"):
        assert make.browser().get(path).status_code == 404


def test_forms_need_their_secret(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post("/sign-in/", {"login": ada.email, "password": make.PASSWORD}).status_code == 403


def test_changing_the_password_ends_other_sessions(ada: User) -> None:
    here, there = make.browser(), make.browser()
    sign_in(here, ada)
    sign_in(there, ada)
    wrong = here.post("/sign-in/password/", {"oldpassword": "no", "password1": NEW, "password2": NEW})
    assert wrong.status_code == 200
    given = {"oldpassword": make.PASSWORD, "password1": NEW, "password2": NEW}
    assert here.post("/sign-in/password/", given).status_code == 302
    assert here.get("/settings/profile/").status_code == 200
    assert there.get("/settings/profile/").status_code == 302


def test_a_reset_link_travels_by_the_outbox_and_works_once(ada: User) -> None:
    client = make.browser()
    assert client.post("/sign-in/reset/", {"email": ada.email}).status_code == 302
    message = Message.objects.get()
    assert message.topic == "letter.password-reset"
    assert set(message.payload) == {"user_id", "language"}

    letter = letters.compose(kind="password-reset", payload=message.payload)
    assert letter is not None
    assert letter.to == ada.email
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/sign-in/reset/\S+)", letter.text)
    page = client.get(path, follow=True)
    assert page.status_code == 200
    assert ada.check_password(make.PASSWORD)
    set_path = page.redirect_chain[-1][0]
    assert client.post(set_path, {"password1": NEW, "password2": NEW}).status_code == 302
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    again = make.browser().get(path, follow=True)
    assert b"password1" not in again.content


def test_an_unknown_address_gets_the_same_page_and_no_letter() -> None:
    assert make.browser().post("/sign-in/reset/", {"email": "nobody@linden.example"}).status_code == 302
    assert Message.objects.count() == 0


def test_a_forged_host_is_not_in_the_link(ada: User) -> None:
    """Checklist C33: links in mails come from PUBLIC_URL, not from the Host header."""
    make.browser().post("/sign-in/reset/", {"email": ada.email}, HTTP_HOST="localhost")
    letter = letters.compose(kind="password-reset", payload=Message.objects.get().payload)
    assert letter is not None
    assert "http://127.0.0.1:8000/" in letter.text
    assert "localhost" not in letter.text


def code(secret: str) -> str:
    return str(totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30)))


def switch_on(client: Client) -> str:
    assert client.get("/sign-in/factor/on/")["Location"].startswith("/sign-in/again/")
    assert client.post("/sign-in/again/", {"password": "wrong"}).status_code == 200
    client.post("/sign-in/again/", {"password": make.PASSWORD})
    assert client.get("/sign-in/factor/on/").status_code == 200
    secret = str(client.session["mfa.totp.secret"])
    assert client.post("/sign-in/factor/on/", {"code": code(secret)}).status_code == 302
    cache.clear()  # used codes are remembered; a person would wait half a minute
    return secret


def test_the_second_factor_is_asked_for_and_kept_encrypted(ada: User) -> None:
    client = make.browser()
    sign_in(client, ada)
    secret = switch_on(client)
    kept = Authenticator.objects.get(user=ada, type=Authenticator.Type.TOTP)
    assert secret not in str(kept.data)

    fresh = make.browser()
    assert (
        fresh.post("/sign-in/", {"login": ada.email, "password": make.PASSWORD})["Location"]
        == "/sign-in/factor/code/"
    )
    assert fresh.get("/settings/profile/").status_code == 302
    assert fresh.post("/sign-in/factor/code/", {"code": "000000"}).status_code == 200
    assert fresh.post("/sign-in/factor/code/", {"code": code(secret)}).status_code == 302
    assert fresh.get("/settings/profile/").status_code == 200


def test_codes_cannot_be_guessed_from_many_sessions(ada: User) -> None:
    """Guards accounts/forms.py `CodeLimit`: six digits, so the limit counts per person, not per session."""
    client = make.browser()
    sign_in(client, ada)
    secret = switch_on(client)
    for _ in range(2):
        guesser = make.browser()
        sign_in(guesser, ada)
        for _ in range(5):
            guesser.post("/sign-in/factor/code/", {"code": "000000"})
    last = make.browser()
    sign_in(last, ada)
    page = last.post("/sign-in/factor/code/", {"code": code(secret)})
    assert page.status_code == 200
    assert b"Too many tries" in page.content


def test_c11_a_code_counts_once_whatever_the_cache_says(ada: User) -> None:
    """Guards accounts/codes.py ``spend``: allauth remembers used codes in one process only."""
    client = make.browser()
    sign_in(client, ada)
    secret = switch_on(client)
    same = code(secret)
    answers = []
    for _ in range(2):
        cache.clear()  # another process, or a restart
        fresh = make.browser()
        sign_in(fresh, ada)
        answers.append(fresh.post("/sign-in/factor/code/", {"code": f"{same[:3]} {same[3:]}"}))
    assert [answer.status_code for answer in answers] == [302, 200]
    assert b"was used already" in answers[1].content
    cache.clear()
    assert client.post("/sign-in/factor/again/", {"code": same}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_c11_of_equal_codes_at_once_one_counts(ada: User) -> None:
    """Guards the lock in accounts/codes.py ``spend``."""
    kept = totp.TOTP.activate(ada, totp.generate_totp_secret()).instance
    start, found = threading.Barrier(8), []

    def one() -> None:
        start.wait()
        found.append(codes.spend(authenticator=kept, code="123456"))
        connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False] * 7 + [True]
