"""The limiter: atomic, on the database's clock, deaf to what a client claims about itself."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client, RequestFactory

from accounts import door, limits
from accounts.addresses import client_address
from accounts.models import RateWindow
from tests.make import people as make


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_a_window_fills_and_the_next_one_is_empty() -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    tries = [limits.allow(key="sign-in:ada", limit=3, seconds=300, now=noon) for _ in range(5)]
    assert tries == [True, True, True, False, False]
    assert limits.allow(key="sign-in:ben", limit=3, seconds=300, now=noon)
    assert limits.allow(key="sign-in:ada", limit=3, seconds=300, now=noon + timedelta(seconds=300))
    assert not limits.allow(key="sign-in:ada", limit=0, seconds=300)


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_a_try_given_back_can_be_used_again() -> None:
    assert limits.allow(key="sign-in:ada", limit=1, seconds=300)
    limits.give_back(key="sign-in:ada", seconds=300)
    assert limits.allow(key="sign-in:ada", limit=1, seconds=300)
    for _ in range(3):
        limits.give_back(key="sign-in:ada", seconds=300)
    assert limits.allow(key="sign-in:ada", limit=1, seconds=300)
    assert not limits.allow(key="sign-in:ada", limit=1, seconds=300)


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_addresses_are_not_kept_and_old_windows_are_forgotten() -> None:
    limits.allow(key="sign-in:ada@linden.example", limit=1, seconds=60, now=datetime(2020, 1, 1, tzinfo=UTC))
    assert "ada" not in RateWindow.objects.get().key
    assert limits.forget() == 1


@pytest.mark.django_db(transaction=True)
def test_b73_parallel_tries_never_pass_the_limit() -> None:
    """Guards accounts/sql/rate_window.sql: read-then-write would let several through at once."""
    found: Counter[bool] = Counter()
    start = threading.Barrier(8)
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def many() -> None:
        start.wait()
        for _ in range(25):
            found[limits.allow(key="sign-in:ada", limit=10, seconds=300, now=now)] += 1
        connections.close_all()

    threads = [threading.Thread(target=many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {True: 10, False: 190}


def knock(client: Client, email: str, password: str, **headers: Any) -> str:
    answer = client.post("/sign-in/", {"login": email, "password": password}, **headers)
    if answer.status_code == 302:
        return "in"
    return "limited" if b"Too many tries" in answer.content else "wrong"


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_b73_a_forged_header_buys_no_tries() -> None:
    """Guards accounts/addresses.py `client_address` and accounts/door.py `take_tries`."""
    ada = make.person(make.tenant())
    client = make.browser()
    answers = [
        knock(client, ada.email, f"guess {n}", HTTP_X_FORWARDED_FOR=f"203.0.113.{n}") for n in range(12)
    ]
    assert answers == ["wrong"] * door.FAILURES_PER_ACCOUNT + ["limited"] * 2
    assert knock(client, ada.email, make.PASSWORD) == "limited"


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_one_address_cannot_try_many_accounts() -> None:
    answers = [
        knock(make.browser(), f"p{n}@linden.example", "guess") for n in range(door.FAILURES_PER_ADDRESS + 1)
    ]
    assert answers[-2:] == ["wrong", "limited"]
    ada = make.person(make.tenant())
    assert knock(make.browser(), ada.email, make.PASSWORD, REMOTE_ADDR="198.51.100.7") == "in"


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_signing_in_rightly_is_never_limited() -> None:
    ada = make.person(make.tenant())
    for _ in range(door.FAILURES_PER_ACCOUNT + 3):
        assert knock(make.browser(), ada.email, make.PASSWORD) == "in"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "10.0.0.1, 203.0.113.9", "203.0.113.9"),
        (2, "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        (2, "203.0.113.9", "192.0.2.1"),
        (1, "not an address", "unknown"),
    ],
)
def test_only_what_our_own_proxies_appended_is_believed(proxies: int, forwarded: str, expected: str) -> None:
    meta = {"REMOTE_ADDR": "192.0.2.1", "HTTP_X_FORWARDED_FOR": forwarded}
    assert client_address(meta, trusted_proxies=proxies) == expected


def test_an_ipv6_line_is_one_client() -> None:
    first, second = (client_address({"REMOTE_ADDR": f"2001:db8:1:2::{n}"}, trusted_proxies=0) for n in (1, 2))
    assert first == second == "2001:db8:1:2::"
    assert client_address({"REMOTE_ADDR": "::ffff:192.0.2.1"}, trusted_proxies=0) == "192.0.2.1"
    assert client_address(RequestFactory().get("/").META) == "127.0.0.1"


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_password_reset_is_limited_before_any_letter() -> None:
    ada = make.person(make.tenant())
    client = make.browser()
    codes = [client.post("/sign-in/reset/", {"email": ada.email}).status_code for _ in range(6)]
    assert codes == [302] * 5 + [429]
