"""Quotas: so many calls of a tool in an hour and in a minute, whoever calls it, and what is over waits and says until when."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction

from accounts.ids import new_id
from runs.engine.begin import begin
from runs.engine.begin_many import Asked, begin_many
from runs.engine.cancel import cancel
from runs.engine.let_in import let_in
from runs.engine.timers import end_waits
from runs.engine.types import Claimed, Go, Outcome, Stop
from runs.models import Event, Step
from runs.present import header
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tests.runs.engine.limited import House, again, pass_time, step
from tools import quotas
from tools.models import QuotaWindow

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> House:
    return House()


def used(seconds: int = 3600) -> int:
    return sum(QuotaWindow.everywhere.get(seconds=seconds).counts)


def test_the_call_that_is_too_many_waits_and_says_until_when(house):
    house.effect(quota_per_hour=1)
    first, other = house.run(), house.run()
    one, two = house.asked(first, other)
    assert isinstance(hands.asked(house.me, one), Go)
    said = hands.asked(house.me, two)
    assert isinstance(said, Stop)
    assert (said.why, said.code) == ("waiting", "quota")
    waiting = step(other)
    assert (waiting.status, waiting.failures, waiting.losses, waiting.owner_id) == (
        "WAITING_EXTERNAL",
        0,
        0,
        None,
    )
    assert waiting.waiting_on.startswith("At most 1 call an hour: goes on at ")
    # With the day before it when that is not today.
    assert waiting.waiting_on.endswith(f"{waiting.not_before:%H:%M} UTC")
    assert again(other).status == "WAITING_EXTERNAL"
    now = header.now(again(other), [waiting], [])
    assert now is not None
    assert now.text == waiting.waiting_on
    told = Event.everywhere.get(run=other, type="step.over_quota")
    assert told.payload["why"] == waiting.waiting_on


def test_it_is_left_alone_until_there_is_room_then_it_goes_on_with_a_new_token(house):
    house.effect(quota_per_hour=1)
    first, other = house.run(), house.run()
    one, two = house.asked(first, other)
    hands.put(house.me, hands.sent(house.me, one))
    hands.asked(house.me, two)
    lines = Event.everywhere.filter(run=other).count()
    assert [let_in(), let_in()] == [0, 0]
    assert Event.everywhere.filter(run=other).count() == lines
    pass_time()
    assert let_in() == 1
    assert let_in() == 0
    (resumed,) = [one for one in house.planned() if one.run_id == other.pk]
    assert resumed.fence > two.fence
    hands.put(house.me, hands.sent(house.me, resumed))
    hands.run_all(house.me)
    assert again(other).status == "SUCCEEDED"
    assert step(other).attempt == 2


def test_as_many_go_on_as_there_is_room_for_the_earliest_promise_first(house):
    house.effect(quota_per_hour=2)
    runs = [house.run() for _ in range(5)]
    claimed = house.asked(*runs)
    said = [hands.asked(house.me, one) for one in claimed]
    assert [isinstance(one, Go) for one in said] == [True, True, False, False, False]
    promised = [step(run).not_before for run in runs[2:]]
    assert promised == sorted(promised)
    # The third of three has to wait for a second window.
    assert (promised[2] - promised[0]).total_seconds() == 61 * 60
    pass_time()
    assert let_in() == 2
    assert step(runs[4]).status == "WAITING_EXTERNAL"
    assert let_in() == 0, "those that were let in have not begun yet, and the room is theirs"


def test_whoever_finds_the_promised_time_without_room_is_told_another_once(house):
    house.effect(quota_per_hour=1)
    first, other = house.run(), house.run()
    for one in house.asked(first, other):
        hands.asked(house.me, one)
    before = step(other).not_before
    pass_time(minutes=10)
    assert let_in() == 0
    assert step(other).not_before < before
    assert str(step(other).waiting_on) == str(again(other).waiting_on)
    assert Event.everywhere.filter(run=other, type="step.over_quota").count() == 2
    let_in()
    assert Event.everywhere.filter(run=other, type="step.over_quota").count() == 2


def test_a_raised_quota_holds_at_once_for_those_that_wait(house):
    house.effect(quota_per_hour=1)
    first, other = house.run(), house.run()
    for one in house.asked(first, other):
        hands.asked(house.me, one)
    house.effect(quota_per_hour=5)
    assert let_in() == 1
    (resumed,) = house.planned()
    assert isinstance(hands.asked(house.me, resumed), Go)
    assert used() == 2


def test_a_lowered_quota_holds_at_once_for_tasks_under_way(house):
    """The quota is a rule: never pinned."""
    house.effect()
    runs = [house.run(), house.run()]
    one, two = house.asked(*runs)
    house.effect(quota_per_hour=1)
    assert isinstance(hands.asked(house.me, one), Go)
    assert isinstance(hands.asked(house.me, two), Stop)


def test_l16_the_quota_of_a_minute_holds_beside_that_of_the_hour(house):
    house.effect(quota_per_hour=3, quota_per_minute=1)
    runs = [house.run(), house.run()]
    one, two = house.asked(*runs)
    hands.asked(house.me, one)
    hands.asked(house.me, two)
    assert "At most 1 call a minute" in step(runs[1]).waiting_on
    assert (used(60), used(3600)) == (1, 1), "a call that waits has used up nothing"


def test_the_answer_to_a_begin_that_got_lost_is_not_counted_twice(house):
    house.effect(quota_per_hour=5)
    (claimed,) = house.asked(house.run())
    child = new_id()
    said = [begin(claimed=claimed, worker_id=house.me.pk, sender=child, pid=7) for _ in range(2)]
    assert all(isinstance(one, Go) for one in said)
    assert used() == 1


def test_a_begin_that_is_refused_for_another_reason_uses_up_nothing(house):
    house.effect(quota_per_hour=5)
    run = house.run()
    (claimed,) = house.asked(run)
    cancel(run_id=run.pk, user_id=house.ada.pk)
    assert isinstance(hands.asked(house.me, claimed), Stop)
    assert not QuotaWindow.everywhere.exists()


def test_the_many_together_leave_one_with_a_quota_to_begin_alone(house):
    """Guards runs/engine/begin_many.py `_decide`: together nobody counts."""
    house.effect()
    (claimed,) = house.asked(house.run())
    question = [Asked(claimed, new_id(), 7)]
    house.effect(quota_per_hour=1)
    assert begin_many(worker_id=house.me.pk, asked=question) == [None]
    house.effect()
    assert isinstance(begin_many(worker_id=house.me.pk, asked=question)[0], Go)


def test_a_call_that_only_reads_asks_when_its_tool_has_a_quota(house):
    house.read(quota_per_hour=1)
    runs = [house.run("drill.noop"), house.run("drill.noop")]
    one, two = house.asked(*runs)
    assert one.spec["rationed"] is True
    assert isinstance(hands.asked(house.me, one), Go)
    hands.put(house.me, hands.done(one, {"ok": True}))
    hands.run_all(house.me, hands.done)
    assert again(runs[0]).status == "SUCCEEDED"
    said = hands.asked(house.me, two)
    assert isinstance(said, Stop)
    assert step(runs[1]).status == "WAITING_EXTERNAL"
    pass_time()
    assert let_in() == 1
    (resumed,) = house.planned()
    assert isinstance(hands.asked(house.me, resumed), Go)


def test_a_call_that_only_reads_does_not_ask_without_a_quota(house):
    (claimed,) = house.asked(house.run("drill.noop"))
    assert "rationed" not in claimed.spec


def test_a_call_that_waits_ends_with_its_task(house):
    house.effect(quota_per_hour=1)
    first, other = house.run(), house.run()
    for one in house.asked(first, other):
        hands.asked(house.me, one)
    cancel(run_id=other.pk, user_id=house.ada.pk)
    assert again(other).status == "CANCELLED"
    pass_time()
    assert let_in() == 0


def test_a_call_that_waits_beyond_the_time_for_another_try_has_not_succeeded(house):
    """Guards runs/engine/timers.py: only waits of the agent end with their deadline."""
    house.effect(quota_per_hour=1)
    first, other = house.run(), house.run()
    for one in house.asked(first, other):
        hands.asked(house.me, one)
    Step.everywhere.filter(run=other, kind="call").update(deadline="2020-01-01T00:00:00Z")
    assert end_waits() == 0
    assert step(other).status == "WAITING_EXTERNAL"


def test_two_that_want_the_last_call_are_counted_one_after_the_other(house):
    """Guards tools/sql/lock_quota.sql: the second waits for the first and sees what it has written."""
    house.effect(quota_per_hour=1)
    (two,) = house.asked(house.run())
    contract = house.effect(quota_per_hour=1)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert quotas.spend(contract=contract, waiting=lambda: 0) is None
            other = pool.submit(_closing, lambda: hands.asked(house.me, two))
            wait_until_blocked()
        said = other.result(30)
    assert isinstance(said, Stop)
    assert said.code == "quota"
    assert used() == 1


def test_l16_never_more_than_allowed_under_eight_threads(house):
    """Guards tools/quotas.py `spend`: eight at once, for each of three tasks, and exactly as many begin as may."""
    house.effect(quota_per_hour=7)
    runs = [house.run() for _ in range(24)]
    claimed = house.asked(*runs)
    gate = threading.Barrier(8)

    def ask(part: list[Claimed]) -> list[Go | Stop]:
        gate.wait(30)
        return [hands.asked(house.me, one) for one in part]

    with ThreadPoolExecutor(8) as pool:
        said = [pool.submit(_closing, lambda part=claimed[n::8]: ask(part)) for n in range(8)]
        answers = [answer for one in said for answer in one.result(60)]
    assert sum(isinstance(answer, Go) for answer in answers) == 7
    assert {answer.code for answer in answers if isinstance(answer, Stop)} == {"quota"}
    assert used() == 7
    assert Step.everywhere.filter(kind="call", status="WAITING_EXTERNAL").count() == 17


def test_a_known_failure_that_is_tried_again_counts_again(house):
    """Each permission to send is one call; what is told twice is one."""
    house.effect(quota_per_hour=2, native_idempotency=True, retry_safe=True, backoff_seconds=0)
    run = house.run()
    (claimed,) = house.asked(run)
    go = hands.asked(house.me, claimed)
    assert isinstance(go, Go)
    hands.put(house.me, Outcome(claimed, "failed", error_code="http_400", dispatch_id=go.dispatch_id))
    Step.everywhere.filter(run=run, kind="call").update(not_before="2020-01-01T00:00:00Z")
    (second,) = house.planned()
    assert isinstance(hands.asked(house.me, second), Go)
    assert used() == 2


def _closing(do: Any) -> Any:
    try:
        return do()
    finally:
        connections.close_all()
