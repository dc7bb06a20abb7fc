"""Two people, or one impatient one, at the same time: real threads, real locks."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta

import pytest
from django.db import connection, transaction

from approvals import errors
from approvals.decide import decide
from approvals.expire import expire
from approvals.models import Decision, PendingAction
from outbox.models import Message
from tests.make import approvals as make
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 200


@pytest.fixture
def house():
    return make.house()


def outcome(act: Callable[[], object]) -> str:
    """What came of it, as one word; anything unexpected fails the test."""
    try:
        act()
    except errors.DeskError as error:
        return error.code
    else:
        return "ok"


def begin(act: Callable[[], object]) -> Future[str]:
    """Do it in a thread with a connection of its own, closed at its end."""
    result: Future[str] = Future()

    def body() -> None:
        try:
            said = outcome(act)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            connection.close()
            result.set_exception(error)
        else:
            connection.close()
            result.set_result(said)

    threading.Thread(target=body, daemon=True).start()
    return result


def together(*acts: Callable[[], object]) -> list[str]:
    """All start at the same moment."""
    gate = threading.Barrier(len(acts))

    def after_gate(act: Callable[[], object]) -> Callable[[], object]:
        return lambda: (gate.wait(10), act())

    return [done.result(30) for done in [begin(after_gate(act)) for act in acts]]


def blocked_backends() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # what a transaction saw once it would see for ever
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def until(holds: Callable[[], bool], what: str) -> None:
    """Ask the database again until it reports what the stage needs."""
    pause = threading.Event()
    for _ in range(1000):
        if holds():
            return
        pause.wait(0.01)
    pytest.fail(what)


def answer(action: PendingAction, user, verdict: str) -> Callable[[], object]:
    return lambda: make.answer(action, user, verdict)


@pytest.mark.slow
def test_b50_opposite_posts_at_once_leave_one_decision(house):
    """Guards approvals/decide.py, ``_lock``: without the row lock both answers are written, or one dies in the database."""
    seen: Counter[str] = Counter()
    for number in range(ROUNDS):
        action = make.question(house)
        first, second = (house.ben, house.mira) if number % 2 else (house.ben, house.ben)
        said = together(answer(action, first, "approve"), answer(action, second, "reject"))
        assert sorted(said) == ["already_decided", "ok"]
        decision = Decision.everywhere.get(action=action)
        intent = Intent.everywhere.get(pk=action.intent_id)
        won = "approve" if said[0] == "ok" else "reject"
        assert decision.verdict == won
        assert make.again(action).status == {"approve": "APPROVED", "reject": "REJECTED"}[won]
        assert intent.status == {"approve": "AUTHORISED", "reject": "PROPOSED"}[won]
        seen[won] += 1
    assert set(seen) == {"approve", "reject"}


@pytest.mark.slow
def test_b50_equal_posts_at_once_are_one_decision(house):
    """Guards approvals/decide.py, ``_replay``: the second click is answered with the first decision, not with an error."""
    for _ in range(ROUNDS):
        action = make.question(house)
        said = together(answer(action, house.ben, "approve"), answer(action, house.ben, "approve"))
        assert said == ["ok", "ok"]
        assert Decision.everywhere.filter(action=action).count() == 1
        rung = Message.objects.filter(topic="decision.recorded", payload__action_id=action.pk.hex)
        assert rung.count() == 1


def test_two_signatures_at_once_are_both_counted(house):
    """Guards approvals/decide.py: the quorum is counted under the lock, so two first signatures cannot both be alone."""
    for _ in range(20):
        action = make.question(house, policy={**make.POLICY, "quorum": 2})
        said = together(answer(action, house.ben, "approve"), answer(action, house.mira, "approve"))
        assert said == ["ok", "ok"]
        assert make.again(action).status == "APPROVED"


def test_a_decision_that_waited_for_the_lock_is_judged_when_it_got_it(house):
    """Guards approvals/clock.py: the end passed while the answer waited, so it is too late, although it began in time."""
    action = make.question(house)
    with transaction.atomic():
        PendingAction.everywhere.select_for_update().get(pk=action.pk)
        waiting = begin(answer(action, house.ben, "approve"))
        until(lambda: blocked_backends() > 0, "the answer did not wait for the lock")
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE approvals_pendingaction SET expires_at = clock_timestamp() WHERE id = %s", [action.pk]
            )
    assert waiting.result(30) == "expired"
    assert Intent.everywhere.get(pk=action.intent_id).status == "PROPOSED"


@pytest.mark.parametrize("first", ["decision", "expiry"])
def test_b54_decision_and_expiry_at_once_have_one_winner(house, first):
    """Guards approvals/expire.py and approvals/decide.py: both take the row lock and look at the state again."""
    action = make.question(house)
    before, at = make.ends(action) - timedelta(seconds=1), make.ends(action)

    def decided() -> None:
        decide(
            action_id=action.pk,
            user_id=house.ben.pk,
            verdict="approve",
            digest=action.digest,
            generation=1,
            channel="web",
            authenticated="password",
            fresh=True,
            now=before,
        )

    def expired() -> bool:
        with transaction.atomic():
            return expire(action_id=action.pk, now=at)

    with transaction.atomic():
        PendingAction.everywhere.select_for_update().get(pk=action.pk)
        ahead = begin(decided if first == "decision" else expired)
        until(lambda: blocked_backends() == 1, "the first did not wait")
        behind = begin(expired if first == "decision" else decided)
        until(lambda: blocked_backends() == 2, "the second did not wait")
    said = [ahead.result(30), behind.result(30)]
    verdict = Decision.everywhere.get(action=action).verdict
    status = make.again(action).status
    assert (said, verdict, status) in (
        (["ok", "ok"], "approve", "APPROVED"),
        (["ok", "expired"], "expire", "EXPIRED"),
        (["expired", "ok"], "expire", "EXPIRED"),
    )
