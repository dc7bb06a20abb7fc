"""The relay: at least once, in order per key, nothing skipped, nobody blocked by somebody else's message."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence

import pytest
from django.db import connections, transaction
from django.db.models.functions import Now

from outbox import relay as relay_module
from outbox.append import append
from outbox.models import Message
from outbox.relay import ATTEMPTS, drain, relay, wait
from outbox.routes import MAIL, Consumer, Delivery, Hopeless, Unavailable, declare
from outbox.verbs.redeliver import redeliver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("table")]


class Ear:
    """Hears what it is told; fails as the test says."""

    def __init__(self, name: str = "ear") -> None:
        self.heard: list[Delivery] = []
        self.fail: Callable[[Delivery], Exception | None] = lambda delivery: None
        self.buried: list[uuid.UUID] = []
        self.consumer = Consumer(
            name, self.tell, lambda delivery, error: self.buried.append(delivery.event_id)
        )

    def tell(self, deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
        failures = {}
        for delivery in deliveries:
            error = self.fail(delivery)
            if error is not None:
                failures[delivery.event_id] = error
            else:
                self.heard.append(delivery)
        return failures

    @property
    def numbers(self) -> list[int]:
        return [int(delivery.payload["n"]) for delivery in self.heard]


@pytest.fixture
def ear() -> Ear:
    made = Ear()
    declare("thing", [made.consumer])
    return made


def say(n: int, key: str = "", topic: str = "thing") -> uuid.UUID:
    return append(topic=topic, key=key, payload={"n": n})


def due_now() -> None:
    Message.objects.filter(published_at=None, dead_at=None).update(next_attempt_at=Now())


def test_what_was_told_is_noted_and_not_told_again(ear: Ear) -> None:
    say(1)
    assert relay(limit=10) == 1
    assert relay(limit=10) == 0
    assert ear.numbers == [1]
    assert Message.objects.get().published_at is not None


def test_b12_a_message_that_commits_late_is_not_skipped(ear: Ear) -> None:
    """Guards outbox/sql/claim_messages.sql: it asks for what is unpublished, never for what is newer."""
    go, written = threading.Event(), threading.Event()

    def late() -> None:
        with transaction.atomic():
            say(1)
            written.set()
            assert go.wait(20)
        connections.close_all()

    thread = threading.Thread(target=late)
    thread.start()
    assert written.wait(20)
    say(2)
    assert drain(limit=10) == 1
    assert ear.numbers == [2]
    go.set()
    thread.join()
    assert drain(limit=10) == 1
    assert ear.numbers == [2, 1]


def test_messages_of_a_key_stay_in_order_behind_a_failing_one(ear: Ear) -> None:
    for n in range(3):
        say(n, key="run")
    for n in range(10, 13):
        say(n, key="other")
    say(20)
    ear.fail = lambda delivery: RuntimeError("not now") if delivery.payload["n"] == 0 else None
    drain(limit=100)
    assert sorted(ear.numbers) == [10, 11, 12, 20]
    ear.fail = lambda delivery: None
    due_now()
    drain(limit=100)
    assert [n for n in ear.numbers if n < 10] == [0, 1, 2]
    assert [n for n in ear.numbers if 10 <= n < 20] == [10, 11, 12]


def test_a_bad_message_becomes_a_dead_letter_and_frees_its_key(ear: Ear) -> None:
    bad = say(0, key="run")
    say(1, key="run")
    ear.fail = lambda delivery: RuntimeError("b\x00ad") if delivery.payload["n"] == 0 else None
    for attempt in range(ATTEMPTS):
        assert Message.objects.get(pk=bad).dead_at is None
        assert ear.buried == []
        drain(limit=10)
        assert Message.objects.get(pk=bad).attempts == attempt + 1
        if attempt + 1 < ATTEMPTS:
            due_now()
    row = Message.objects.get(pk=bad)
    assert row.dead_at is not None
    assert row.last_error == "RuntimeError: b\\u0000ad"
    assert ear.buried == [bad]
    assert ear.numbers == [1]

    ear.fail = lambda delivery: None
    assert redeliver(message_id=bad)
    assert not redeliver(message_id=bad)
    drain(limit=10)
    assert ear.numbers == [1, 0]


def test_a_hopeless_message_dies_at_once(ear: Ear) -> None:
    say(0)
    ear.fail = lambda delivery: Hopeless("no such person")
    relay(limit=10)
    assert Message.objects.get().dead_at is not None


def test_a_closed_way_out_counts_no_attempt(ear: Ear) -> None:
    """An outage of a day must not turn everything into dead letters."""
    say(0)
    ear.fail = lambda delivery: Unavailable("broker away")
    for _ in range(ATTEMPTS + 5):
        relay(limit=10)
        due_now()
    row = Message.objects.get()
    assert (row.attempts, row.dead_at, row.published_at) == (0, None, None)
    ear.fail = lambda delivery: None
    assert relay(limit=10) == 1


def test_one_consumer_that_fails_does_not_cost_another_its_message(ear: Ear) -> None:
    other = Ear("other")

    def explode(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
        raise ConnectionError("away")

    declare("thing", [Consumer("broken", explode), ear.consumer])
    declare("else", [other.consumer])
    say(1)
    say(2, topic="else")
    assert relay(limit=10) == 1
    assert ear.numbers == [1]
    assert other.numbers == [2]
    declare("thing", [ear.consumer])
    due_now()
    relay(limit=10)
    assert ear.numbers == [1, 1]


def test_an_unknown_topic_is_seen_and_blocks_nobody(ear: Ear) -> None:
    say(1, topic="nobody.declared.this")
    say(2)
    assert relay(limit=10) == 1
    assert ear.numbers == [2]
    assert "NoRoute" in Message.objects.get(topic="nobody.declared.this").last_error


def test_the_lanes_do_not_wait_for_each_other(ear: Ear) -> None:
    slow = Ear("slow")
    declare("letter", [slow.consumer], lane=MAIL)
    say(1, topic="letter")
    say(2)
    assert relay(limit=10) == 1
    assert (ear.numbers, slow.numbers) == ([2], [])
    assert relay(limit=10, lane=MAIL) == 1
    assert slow.numbers == [1]


def test_killed_between_telling_and_noting_it_comes_again(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards outbox/relay.py `relay`: noted only after it was told. Noting first would lose it here."""
    say(1, key="run")
    say(2, key="run")

    class Killed(BaseException):
        pass

    def die(name: str) -> None:
        raise Killed

    monkeypatch.setattr(relay_module, "fp", die)
    with pytest.raises(Killed):
        relay(limit=10)
    monkeypatch.undo()
    assert ear.numbers == [1]
    assert drain(limit=10) == 0, "hidden while the other relay might still be at it"
    due_now()
    assert drain(limit=10) == 2
    assert ear.numbers == [1, 1, 2]


@pytest.mark.parametrize("second", ["delivers", "fails"])
def test_a_relay_that_was_overtaken_cannot_bury_a_message(ear: Ear, second: str) -> None:
    """Guards outbox/sql/put_back.sql: it compares the attempt, so a late failure does not undo what came after it."""
    event = say(1)
    late, early = threading.Event(), threading.Event()

    def slow(delivery: Delivery) -> Exception | None:
        if delivery.attempt == 1:
            early.set()
            assert late.wait(20)
            return Hopeless("too late to matter")
        return RuntimeError("not now") if second == "fails" else None

    ear.fail = slow

    def first() -> None:
        relay(limit=10)
        connections.close_all()

    thread = threading.Thread(target=first)
    thread.start()
    assert early.wait(20)
    due_now()
    assert relay(limit=10) == (second == "delivers")
    late.set()
    thread.join()
    row = Message.objects.get(pk=event)
    assert row.dead_at is None
    assert (row.published_at is not None) == (second == "delivers")
    assert row.attempts == 2


def test_two_relays_share_the_work_and_keep_the_order(ear: Ear) -> None:
    """Real threads: every message once while nobody dies, in order per key."""
    lock = threading.Lock()
    plain = ear.tell

    def locked(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
        with lock:
            return plain(deliveries)

    declare("thing", [Consumer("ear", locked)])
    for n in range(120):
        say(n, key=f"run{n % 6}" if n % 2 else "")
    start = threading.Barrier(3)

    def work() -> None:
        start.wait()
        while Message.objects.filter(published_at=None).exists():
            relay(limit=7)
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ear.numbers) == list(range(120))
    for key in range(1, 6, 2):
        mine = [n for n in ear.numbers if n % 6 == key]
        assert mine == sorted(mine)


def test_a_locked_message_does_not_stop_a_relay(ear: Ear) -> None:
    """Guards SKIP LOCKED in outbox/sql/claim_messages.sql."""
    held = say(1)
    say(2)
    go, taken = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Message.objects.select_for_update().get(pk=held)
            taken.set()
            assert go.wait(20)
        connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(20)
    assert relay(limit=10) == 1
    assert ear.numbers == [2]
    go.set()
    thread.join()


def test_waits_grow_and_differ() -> None:
    for attempt in range(1, 40):
        spread = {wait(attempt) for _ in range(20)}
        assert len(spread) > 1
        assert all(0.25 <= one <= 60 for one in spread)
    assert max(wait(1) for _ in range(50)) < min(wait(5) for _ in range(50))
