"""Whatever is not an explicit yes denies: every way in which an answer fails to come, on the page and over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse

from accounts.models import TokenScope
from approvals import answers, links
from approvals.clock import db_now
from approvals.models import Decision, PendingAction
from runs.engine.expire import expire_due
from tests.make import approvals as make
from tests.make import people as cast
from tests.rest.client import Rest
from tools.models import Intent

pytestmark = pytest.mark.django_db

Break = Callable[[PendingAction, pytest.MonkeyPatch], Any]


@pytest.fixture
def house() -> make.House:
    return make.house()


def by_page(house: make.House, one: PendingAction, **changed: Any) -> Any:
    client = cast.browser(house.ben)
    client.raise_request_exception = False
    sent = {
        "verdict": "approve",
        "digest": one.digest,
        "generation": one.generation,
        "gesture": one.second_gesture,
    }
    return client.post(f"{links.action(one.pk)}decide/", {**sent, **changed})


def by_rest(house: make.House, one: PendingAction, **changed: Any) -> Any:
    client = Rest(house.ben, house.tenant, TokenScope.READ, TokenScope.DECIDE)
    tag = f'"{one.digest}.{one.generation}"'
    body = {"verdict": "approve", "gesture": one.second_gesture, **changed}
    read = client.get(f"actions/act_{one.pk.hex}/")
    headers = {"If-Match": read.headers.get("ETag", tag)}
    return client.post(f"actions/act_{one.pk.hex}/decide/", body, **headers)


DOORS = {"page": by_page, "rest": by_rest}


def nothing_was_approved(one: PendingAction) -> None:
    fresh = make.again(one)
    assert fresh.status in ("OPEN", "EXPIRED")
    assert not Decision.everywhere.filter(action=one, verdict="approve").exists()
    assert Intent.everywhere.get(pk=one.intent_id).status in ("PROPOSED", "VOIDED")


def in_words(answer: HttpResponse) -> None:
    """Refused, and a person or a program is told why."""
    assert answer.status_code >= 400, answer.content
    said = answer.content.decode()
    assert "Traceback" not in said
    assert len(said.split()) > 5


def times_out(one: PendingAction, patch: pytest.MonkeyPatch) -> None:
    PendingAction.everywhere.filter(pk=one.pk).update(expires_at=db_now())


def service_raises(one: PendingAction, patch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any, **named: Any) -> None:
        raise RuntimeError("this must not be shown to anybody")

    patch.setattr(answers, "check", fails)


@contextmanager
def refusing(words: str) -> Iterator[None]:
    """The database breaks off the statement that names these words."""

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if words in sql:
            raise OperationalError("the connection was lost; this must not be shown to anybody")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrapper):
        yield


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("breaks", [times_out, service_raises])
def test_b64_time_and_errors_of_the_service_deny(house, door, breaks: Break, monkeypatch):
    """Guards approvals/decide.py `decide`: one transaction, and nothing is approved before its end."""
    one = make.question(house)
    breaks(one, monkeypatch)
    answer = DOORS[door](house, one)
    in_words(answer)
    assert "must not be shown" not in answer.content.decode()
    nothing_was_approved(one)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "statement",
    ['INSERT INTO "approvals_decision"', 'UPDATE "approvals_pendingaction"', 'INSERT INTO "outbox_message"'],
)
def test_b64_an_error_of_the_database_at_any_place_denies(house, door, statement):
    """Guards approvals/decide.py `decide`: decision, state, event and audit row are one transaction."""
    one = make.question(house)
    with refusing(statement):
        answer = DOORS[door](house, one)
    in_words(answer)
    assert "must not be shown" not in answer.content.decode()
    nothing_was_approved(one)


@pytest.mark.parametrize(
    "changed",
    [
        {"verdict": ""},
        {"verdict": "APPROVE"},
        {"verdict": "approved"},
        {"verdict": ["approve", "reject"]},
        {"verdict": ["reject", "approve"]},
        {"digest": ""},
        {"digest": "0" * 64},
        {"generation": ""},
        {"generation": "one"},
        {"generation": 2},
        {"generation": "9" * 400},
    ],
    ids=str,
)
def test_b64_a_malformed_form_denies(house, changed):
    """Guards approvals/forms.py: what does not say yes, and that one time, says no."""
    one = make.question(house)
    in_words(by_page(house, one, **changed))
    nothing_was_approved(one)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"approve"',
        b'{"verdict": true}',
        b'{"verdict": null}',
        b'{"verdict": ["approve"]}',
        b'{"verdict": "APPROVE"}',
        b'{"verdict": "reject", "verdict": "approve"}',
        b"\xff\xfe",
        b'{"verdict": "expire"}',
    ],
    ids=repr,
)
def test_b64_a_malformed_body_denies(house, body):
    """Guards approvals/api/views.py `DecideView` and accounts/canonical.py: two verdicts are none."""
    one = make.question(house)
    client = Rest(house.ben, house.tenant, TokenScope.READ, TokenScope.DECIDE)
    path = f"actions/act_{one.pk.hex}/"
    answer = client.post(f"{path}decide/", raw=body, **{"If-Match": client.get(path)["ETag"]})
    in_words(answer)
    assert answer.status_code < 500
    nothing_was_approved(one)


UNREADABLE = [
    [],
    "approve",
    7,
    {"role": "emperor"},
    {"role": ["approver"]},
    {"role": "approver", "quorum": "many"},
    {"role": "approver", "quorum": {"at least": 1}},
    {"role": "approver", "group": {"name": "Finance"}},
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("policy", UNREADABLE, ids=str)
def test_b64_a_rule_that_cannot_be_read_denies(house, door, policy):
    """Guards approvals/rules.py: no part that cannot be read is taken for a yes."""
    one = make.question(house)
    PendingAction.everywhere.filter(pk=one.pk).update(policy=policy)
    answer = DOORS[door](house, one)
    if answer.status_code < 400:
        assert make.again(one).status == "OPEN", "at most a signature of too few"
    else:
        in_words(answer)
    assert make.again(one).status == "OPEN"
    assert Intent.everywhere.get(pk=one.intent_id).status == "PROPOSED"


@pytest.mark.parametrize("door", DOORS)
def test_b64_bytes_that_are_not_what_was_digested_deny(house, door):
    """Guards approvals/decide.py `check_standing`."""
    one = make.question(house)
    PendingAction.everywhere.filter(pk=one.pk).update(shown=bytes(one.shown).replace(b"halden", b"holden"))
    in_words(DOORS[door](house, one))
    nothing_was_approved(one)


def test_b64_when_expiring_fails_the_question_is_no_less_over(house, monkeypatch):
    """Guards approvals/grants.py and approvals/decide.py: the deadline is in the row, not in the process that closes it."""
    one = make.question(house)
    PendingAction.everywhere.filter(pk=one.pk).update(expires_at=db_now())
    with refusing('INSERT INTO "approvals_decision"'):
        assert expire_due() == 0
    with transaction.atomic():
        assert make.again(one).status == "OPEN"
    in_words(by_page(house, one))
    nothing_was_approved(one)
