"""A consumer handles an event that comes twice as if it came once."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.db.models.functions import Now

from accounts.ids import new_id
from outbox.append import append
from outbox.models import Message, Receipt
from outbox.receive import once
from outbox.sweep import MESSAGES, RECEIPTS, sweep
from tests.races.waiting import wait_until_blocked

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_second_time_is_told_apart_per_consumer() -> None:
    event = new_id()
    assert [once("notes", event), once("notes", event), once("webhooks", event)] == [True, False, True]


def test_work_that_is_rolled_back_takes_its_receipt_along() -> None:
    event = new_id()
    with transaction.atomic():
        assert once("notes", event)
        transaction.set_rollback(True)
    assert once("notes", event)


def test_a_repeat_at_the_same_time_waits_for_the_first() -> None:
    """Guards outbox/sql/receipt.sql: the unique pair, not a look beforehand."""
    event = new_id()
    seen: list[bool] = []

    def second() -> None:
        seen.append(once("notes", event))
        connections.close_all()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        assert once("notes", event)
        thread.start()
        wait_until_blocked()
        assert seen == []
    thread.join()
    assert seen == [False]


def test_the_sweep_forgets_what_is_old_and_keeps_dead_letters() -> None:
    ids = [append(topic="run.progress") for _ in range(4)]
    old = Now() - MESSAGES - timedelta(days=1)
    Message.objects.filter(pk=ids[0]).update(published_at=old, created_at=old)
    Message.objects.filter(pk=ids[1]).update(published_at=Now())
    Message.objects.filter(pk=ids[2]).update(dead_at=old, created_at=old)
    once("notes", ids[0])
    once("notes", ids[1])
    Receipt.objects.filter(event_id=ids[0]).update(at=Now() - RECEIPTS - timedelta(days=1))
    assert sweep() == 2
    assert set(Message.objects.values_list("pk", flat=True)) == set(ids[1:])
    assert Receipt.objects.get().event_id == ids[1]
