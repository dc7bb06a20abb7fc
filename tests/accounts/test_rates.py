"""Limits of the doors that change things: the same counters on page and REST, atomic, with words and a time to wait."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from allauth.account.adapter import DefaultAccountAdapter
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import Client, override_settings

from accounts import door
from accounts.models import RateWindow, Role, Tenant, User
from accounts.throttle import Rate
from approvals.rates import DECIDE
from runs.models import Artifact, Run
from runs.rates import EDIT, START, UPLOAD
from tests.make import people as make
from tests.rest.client import Rest

ALL = ("read", "submit", "decide")
NOBODYS = f"act_{7:032x}"
PAGES: dict[str, Rate] = {
    f"/inbox/{NOBODYS}/decide/": DECIDE,
    "/inbox/batch/decide/": DECIDE,
    f"/inbox/{NOBODYS}/edit/": EDIT,
    "/tasks/new/": START,
    "/mcp/import/": START,
    "/tasks/test-calls/mail.send/": START,
    "/tasks/uploads/": UPLOAD,
}
REST: dict[str, Rate] = {
    f"actions/{NOBODYS}/decide/": DECIDE,
    "inbox/decide/": DECIDE,
    f"actions/{NOBODYS}/edit/": EDIT,
    "tasks/": START,
    "uploads/": UPLOAD,
}
LOCAL = "127.0.0.1"


@pytest.fixture
def linden() -> Tenant:
    return make.tenant()


def somebody(of: Tenant) -> User:
    return make.person(of, Role.SUBMITTER, Role.APPROVER, Role.ADMINISTRATOR)


def use_up(rate: Rate, *, person: User | None = None, leave: int = 0) -> None:
    """Only ``leave`` tries are left, to the person or to this address."""
    keys = rate.keys(LOCAL, person.pk if person else None)
    key, limit = keys[-1]
    assert rate.allow([(key, limit)])
    mine = RateWindow.objects.filter(key__startswith=key.partition(":")[0] + ":")
    assert mine.update(count=limit - leave) == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
@pytest.mark.parametrize("address", PAGES)
def test_c30_a_page_is_limited_for_a_person_and_for_an_address(linden: Tenant, address: str) -> None:
    """Guards `approvals/urls.py` and `runs/urls.py`, ``limited``, and accounts/throttle.py."""
    ada, ben, rate = somebody(linden), somebody(linden), PAGES[address]
    client = make.browser(ada)
    use_up(rate, person=ada, leave=1)
    assert client.post(address).status_code != 429
    refused = client.post(address)
    assert (refused.status_code, refused["Retry-After"]) == (429, str(round(rate.seconds)))
    assert client.get("/tasks/new/").status_code == 200
    assert make.browser(ben).post(address).status_code != 429
    use_up(rate)
    assert make.browser(ben).post(address).status_code == 429
    assert make.browser(ben).post(address, REMOTE_ADDR="192.0.2.7").status_code != 429


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
@pytest.mark.parametrize("address", REST)
def test_c30_rest_is_limited_for_a_person_and_for_an_address(linden: Tenant, address: str) -> None:
    """Guards ``throttle_classes`` of the views, accounts/rest/rates.py, and accounts/rest/problems.py `_throttled`."""
    ada, ben, rate = somebody(linden), somebody(linden), REST[address]
    use_up(rate, person=ada, leave=1)
    assert Rest(ada, linden, *ALL).post(address).status_code != 429
    # Another token of the same person buys nothing.
    refused = Rest(ada, linden, *ALL).post(address)
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    wait = round(rate.seconds)
    assert (refused["Retry-After"], refused.json()["code"]) == (str(wait), "too_many")
    assert f"Nothing was done. Try again in {wait} seconds." in refused.json()["detail"]
    assert Rest(ada, linden, *ALL).get("tasks/").status_code == 200
    assert Rest(ben, linden, *ALL).post(address).status_code != 429
    use_up(rate)
    assert Rest(ben, linden, *ALL).post(address).status_code == 429


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_c30_page_and_rest_count_one_person_together(linden: Tenant) -> None:
    ada = somebody(linden)
    use_up(UPLOAD, person=ada, leave=1)
    file = SimpleUploadedFile("a.txt", b"Some words of a contract.")
    assert make.browser(ada).post("/tasks/uploads/", {"file": file}).status_code == 201
    assert Rest(ada, linden, *ALL).upload(b"Some more words.", "b.txt").status_code == 429
    answer = make.browser(ada).post("/tasks/uploads/", {"file": SimpleUploadedFile("c.txt", b"Words.")})
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many")
    assert "This one was not kept." in answer.json()["detail"]
    assert Artifact.everywhere.count() == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("one_window")
def test_c30_a_key_that_was_refused_for_haste_is_free_afterwards(
    linden: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 429 is no answer to the request: it is not replayed, and the same key works when the window has passed."""
    ada, file = somebody(linden), b"Some words of a contract."
    with monkeypatch.context() as patch:
        patch.setattr(Rate, "allow", lambda self, keys: False)
        assert Rest(ada, linden, *ALL).upload(file, "a.txt", key="one").status_code == 429
    assert Rest(ada, linden, *ALL).upload(file, "a.txt", key="one").status_code == 201


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("one_window")
def test_c30_parallel_requests_never_pass_the_limit(linden: Tenant) -> None:
    """Guards accounts/rest/rates.py: the counter is the database's, so requests at once gain nothing."""
    ada = somebody(linden)
    use_up(START, person=ada, leave=5)
    found = at_once(lambda _n: Rest(ada, linden, *ALL).post("tasks/").status_code, times=40)
    assert found == {400: 5, 429: 35}
    assert not Run.everywhere.exists()


def at_once(ask: Any, *, times: int) -> Counter[Any]:
    """What ``ask`` gave, called so many times by eight threads that start together."""
    start = threading.Barrier(8)

    def share(first: int) -> list[Any]:
        start.wait()
        try:
            return [ask(n) for n in range(first, times, 8)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        return Counter(one for part in pool.map(share, range(8)) for one in part)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("one_window")
@pytest.mark.parametrize(
    ("proxies", "accounts", "most"), [(0, 1, door.FAILURES_PER_ACCOUNT), (1, 200, door.FAILURES_PER_ADDRESS)]
)
def test_b73_two_hundred_sign_ins_at_once_see_no_more_passwords_than_the_limit(
    linden: Tenant, monkeypatch: pytest.MonkeyPatch, proxies: int, accounts: int, most: int
) -> None:
    """Guards accounts/door.py `authenticate`: the try is taken before the password is looked at; and
    accounts/addresses.py: the header rotates, behind our proxy only what it appended is believed."""
    ada = make.person(linden)
    checked: list[str] = []
    real = DefaultAccountAdapter.authenticate

    def counted(self: Any, request: Any, **credentials: Any) -> Any:
        checked.append(credentials["email"])
        return real(self, request, **credentials)

    monkeypatch.setattr(DefaultAccountAdapter, "authenticate", counted)

    def knock(n: int) -> str:
        email = ada.email if accounts == 1 else f"p{n}@linden.example"
        forged = f"203.0.113.{n}" + (", 198.51.100.9" if proxies else "")
        answer = Client().post(
            "/sign-in/", {"login": email, "password": f"guess {n}"}, headers={"X-Forwarded-For": forged}
        )
        return "limited" if b"Too many tries" in answer.content else "wrong"

    with override_settings(TRUSTED_PROXIES=proxies):
        found = at_once(knock, times=200)
    assert len(checked) == most
    assert found == {"wrong": most, "limited": 200 - most}
