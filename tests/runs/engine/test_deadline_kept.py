"""The time of a person is kept by its own duties, whatever else hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from approvals.clock import db_now
from approvals.models import PendingAction
from config.coordinator import Round
from config.duties import DUTIES, Duty
from outbox.models import Message
from tests.runs.engine.test_effects import Story

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 60.0


def until(so: Callable[[], bool]) -> None:
    """Wait for a fact; fails when it never comes."""
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def test_b55_letters_that_hang_hold_up_no_reminder_no_escalation_and_no_end() -> None:
    """Guards config/duties.py and config/coordinator.py: each has a duty of its own, and a question that is over ends its
    wait while no letter leaves."""
    story, go, hanging = Story(), threading.Event(), threading.Event()

    def hang() -> int:
        hanging.set()
        go.wait(PATIENCE)
        return 0

    def asked() -> PendingAction:
        return story.action()

    kept = {"undecidable", "remind", "escalate", "expire"}
    mine = [Round(Duty(one.name, 0.02, one.do, alone=one.alone)) for one in DUTIES if one.name in kept]
    assert len(mine) == len(kept)
    rounds = [Round(Duty("mail", 0.02, hang, alone=False)), *mine]
    for one in rounds:
        one.start()
    try:
        assert hanging.wait(PATIENCE)
        row = PendingAction.everywhere.filter(pk=asked().pk)
        row.update(remind_at=db_now(), escalate_at=db_now())
        until(lambda: asked().reminders == 1 and asked().escalated_at is not None)
        assert asked().status == "OPEN"
        row.update(expires_at=db_now())
        until(lambda: asked().status == "EXPIRED")
        until(lambda: story.step.error_code == "approval_expired")
        assert hanging.is_set()
        assert not go.is_set()
    finally:
        for one in rounds:
            one.stop()
        go.set()
        for one in rounds:
            one.join(PATIENCE)
    told = [row.topic for row in Message.objects.filter(payload__action_id=asked().pk.hex).order_by("pk")]
    assert told[0] == "action.opened"
    assert sorted(told[1:3]) == ["action.escalated", "action.reminder"]
    assert told[-1] == "action.closed"
